#include "balance/steps/expected.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "balance/steps/board.h"
#include "balance/steps/input_check.h"
#include "base/check.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

// An entry of the view as far as it lies in the range of an event.
struct ExpectedPart {
  std::size_t index = 0;
  ring::TokenRange range = {};
  std::size_t token_begin = 0;  // its tokens in the picture
  std::size_t token_end = 0;
  std::uint64_t load = 0;  // seen
};

// Tokens made for load of unknown shape, on their way into the picture. Merging reads all of it,
// which for each of thousands of events would take longer than a tick; so what lies apart from the
// rest waits.
class AddedTokens {
 public:
  explicit AddedTokens(Input& input) : input_(input) {}
  AddedTokens(const AddedTokens&) = delete;
  AddedTokens& operator=(const AddedTokens&) = delete;
  ~AddedTokens() { merge(); }

  // To be called before an event is laid, in order of their ranges: what it must see is merged. An
  // entry without a sample is judged by its mean, until tokens are added to it.
  void before(const ring::TokenRange& range) {
    if (tokens_.empty()) return;
    const std::size_t entry = input_.view->find(range.first).value();
    if (range.first <= tokens_.back().token || (entry == last_entry_ && unsampled(entry))) merge();
  }

  // Requires: above the tokens added since the last merge.
  void add(std::size_t entry, const heat::TokenLoad& token) {
    CHECK(tokens_.empty() || tokens_.back().token < token.token);
    tokens_.push_back(token);
    last_entry_ = entry;
  }

 private:
  bool unsampled(std::size_t entry) const {
    const ring::TokenRange& range = input_.view->entries()[entry].range;
    const auto& tokens = input_.picture.tokens;
    const auto first = std::ranges::lower_bound(tokens, range.first, {}, &heat::TokenLoad::token);
    return first == tokens.end() || range.last < first->token;
  }

  void merge() {
    if (tokens_.empty()) return;
    std::vector<heat::TokenLoad> all;
    all.reserve(input_.picture.tokens.size() + tokens_.size());
    std::ranges::merge(input_.picture.tokens, tokens_, std::back_inserter(all), {},
                       &heat::TokenLoad::token, &heat::TokenLoad::token);
    std::vector<heat::TokenLoad> once;
    once.reserve(all.size());
    for (const heat::TokenLoad& each : all) {
      if (once.empty() || once.back().token != each.token) {
        once.push_back(each);
      } else {
        once.back().load += each.load;
        once.back().samples = std::max(once.back().samples, each.samples);
      }
    }
    input_.picture.tokens = std::move(once);
    tokens_.clear();
  }

  Input& input_;
  std::vector<heat::TokenLoad> tokens_;  // sorted
  std::size_t last_entry_ = 0;
};

class Layer {
 public:
  Layer(Input& input, const Expected& event, AddedTokens& added)
      : input_(input), event_(event), added_(added) {
    added_.before(event_.range);
    find_parts();
  }

  // By the index of the entry, what was added.
  void lay(Phantoms& phantoms) {
    if (seen_ >= event_.load) return;
    const std::uint64_t missing = event_.load - seen_;
    const bool shaped = samples_ >= input_.constants.piece_samples_min && seen_ > 0;
    const Wide width = ring::width(event_.range);
    for (const ExpectedPart& part : parts_) {
      const std::uint64_t more = shaped ? scaled(missing, part.load, seen_)
                                        : scaled(missing, ring::width(part.range), width);
      if (more == 0) continue;
      if (shaped) {
        raise_tokens(part, more);
      } else {
        add_tokens(part, more);
      }
      raise_entry(part.index, more, phantoms);
    }
  }

 private:
  void find_parts() {
    const auto entries = input_.view->entries();
    const auto& tokens = input_.picture.tokens;
    for (std::size_t at = input_.view->find(event_.range.first).value();
         at < entries.size() && entries[at].range.first <= event_.range.last; ++at) {
      const ring::TokenRange& whole = entries[at].range;
      ExpectedPart part{.index = at, .range = ring::common(whole, event_.range)};
      part.token_begin = place(part.range.first);
      part.token_end = after(part.range.last);
      for (std::size_t token = part.token_begin; token < part.token_end; ++token) {
        part.load += tokens[token].load;
        samples_ += tokens[token].samples;
      }
      const bool unsampled = place(whole.first) == after(whole.last);
      if (unsampled) {
        part.load = scaled(input_.picture.ranges[at].load.mean, ring::width(part.range),
                           ring::width(whole));
      }
      seen_ += part.load;
      parts_.push_back(part);
    }
    CHECK(!parts_.empty() && parts_.front().range.first == event_.range.first &&
          parts_.back().range.last == event_.range.last);
  }

  std::size_t place(Token token) const {
    const auto& tokens = input_.picture.tokens;
    const auto found = std::ranges::lower_bound(tokens, token, {}, &heat::TokenLoad::token);
    return static_cast<std::size_t>(found - tokens.begin());
  }

  std::size_t after(Token token) const {
    return token == ring::kLastToken ? input_.picture.tokens.size()
                                     : place(Token{token.value() + 1});
  }

  void raise_tokens(const ExpectedPart& part, std::uint64_t more) {
    for (std::size_t at = part.token_begin; at < part.token_end; ++at) {
      heat::TokenLoad& token = input_.picture.tokens[at];
      token.load += scaled(more, token.load, std::max<std::uint64_t>(part.load, 1));
    }
  }

  // The load in so many tokens at equal distances. Each counts as well sampled: a person said so.
  void add_tokens(const ExpectedPart& part, std::uint64_t more) {
    const Constants& constants = input_.constants;
    const std::size_t most = constants.expected_points_max / parts_.size();
    const Wide width = ring::width(part.range);
    const Wide points =
        std::min<Wide>(width, std::clamp<std::size_t>(most, 1, constants.expected_points));
    const Wide step = width / points;
    for (Wide point = 0; point < points; ++point) {
      const Wide offset = step * point + step / 2;
      added_.add(part.index,
                 {Token{part.range.first.value() + static_cast<std::uint64_t>(offset)},
                  more / static_cast<std::uint64_t>(points), constants.piece_samples_min});
    }
  }

  void raise_entry(std::size_t index, std::uint64_t more, Phantoms& phantoms) {
    const heat::Load load{.tick = more, .mean = more, .slow = more, .peak = more};
    heat::RangeLoad& range = input_.picture.ranges[index];
    range.load += load;
    auto& nodes = input_.picture.nodes;
    const auto node = std::ranges::lower_bound(nodes, range.node, {}, &heat::NodeLoad::node);
    if (node != nodes.end() && node->node == range.node) node->load += load;

    const ring::Entry& entry = input_.view->entries()[index];
    const auto& moves = input_.view->document().moves;
    Phantom& phantom =
        phantoms[entry.move == ring::kNone ? entry.node : moves[entry.move].destination];
    phantom.load += more;
    phantom.until = std::max(phantom.until, event_.end);
    if (event_.load <= phantom.event_load) return;
    phantom.event = event_.event;
    phantom.event_load = event_.load;
  }

  Input& input_;
  const Expected& event_;
  std::vector<ExpectedPart> parts_;
  AddedTokens& added_;
  std::uint64_t seen_ = 0;  // load of all parts
  std::uint64_t samples_ = 0;
};

}  // namespace

bool foreseen(const Expected& expected, UnixMillis now) {
  return expected.load > 0 && expected.load <= kAmountMax / 2 &&
         expected.range.first <= expected.range.last && expected.lead_from <= now &&
         now < expected.end && static_cast<std::uint64_t>(expected.end.value()) <= kAmountMax;
}

Phantoms lay_expected(Input& input) {
  std::vector<Expected> events;
  for (const Expected& each : input.expected) {
    if (foreseen(each, input.now)) events.push_back(each);
  }
  // What two events add to the same tokens depends on their order.
  std::ranges::sort(events);
  Phantoms phantoms;
  AddedTokens added(input);
  for (const Expected& each : events) Layer(input, each, added).lay(phantoms);
  return phantoms;
}

}  // namespace cleave::balance
