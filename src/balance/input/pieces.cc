#include "balance/input/pieces.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/ppm.h"

namespace cleave::balance {
namespace {

constexpr std::size_t kWholeRangesMax = 64;  // of one move, when windows do not help
constexpr std::uint64_t kFarDenser = 2;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// The best window of a stretch, as found under some limits.
struct Best {
  std::uint64_t load_min = kNoLimit;  // of those limits; kNoLimit = not looked for yet
  std::optional<Window> window = {};

  bool holds(const WindowLimits& limits) const {
    // Far smaller windows are allowed by now: look again.
    if (limits.load_min < load_min / 2) return false;
    if (!window) return true;
    return window->load <= limits.load_max && window->keys <= limits.keys_max;
  }
};

struct Candidate {
  Stretch stretch;
  Best any = {};
  Best large = {};
};

class Chooser {
 public:
  Chooser(const std::vector<Stretch>& stretches, const Price& price, const Appetite& appetite,
          const Constants& constants)
      : price_(price),
        appetite_(appetite),
        constants_(constants),
        keys_left_(appetite.keys_max),
        cuts_left_(appetite.cuts_max) {
    for (const Stretch& each : stretches) candidates_.push_back({.stretch = each});
  }

  Pieces run() {
    while (result_.windows.size() < constants_.pieces_max && wanted() >= appetite_.piece_min) {
      if (!take_window()) break;
    }
    // Only when windows have stopped helping: whole cold ranges cost many more keys for their load.
    if (result_.load < appetite_.load_min) take_whole_ranges();
    return std::move(result_);
  }

 private:
  std::uint64_t wanted() const { return appetite_.load - std::min(appetite_.load, result_.load); }

  WindowLimits limits(std::uint64_t load_min) const {
    return {.load_min = load_min,
            .load_max = ppm_of(wanted(), constants_.piece_over_ppm),
            .keys_max = keys_left_,
            .keys_min = appetite_.piece_keys,
            .heavy_load = appetite_.heavy_load,
            .samples_min = constants_.piece_samples_min,
            .few_cuts_ppm = constants_.few_cuts_ppm};
  }

  // Something that is a good part of what is wanted, so that few pieces do, unless something
  // smaller is worth far more for its keys.
  bool take_window() {
    if (cuts_left_ < 2) {
      result_.lacked_cuts = true;
      return false;
    }
    const std::uint64_t small = appetite_.piece_min;
    const auto any = densest(&Candidate::any, limits(small));
    const auto large = densest(&Candidate::large, limits(std::max(small, wanted() / 4)));
    if (large && (!any || Wide{large->second.load} * any->second.cost * kFarDenser >=
                              Wide{any->second.load} * large->second.cost)) {
      take(large->first, large->second);
      return true;
    }
    if (any) {
      take(any->first, any->second);
      return true;
    }
    WindowLimits unlimited = limits(small);
    unlimited.keys_max = kNoLimit;
    for (const Candidate& each : candidates_) {
      if (!densest_window(each.stretch, price_, unlimited)) continue;
      result_.lacked_keys = true;
      break;
    }
    return false;
  }

  // The densest window of all stretches. Limits only shrink from piece to piece, so the best of a
  // stretch stays its best for as long as it still fits them; this makes a plan ten times cheaper.
  std::optional<std::pair<std::size_t, Window>> densest(Best Candidate::* kind,
                                                        const WindowLimits& limits) {
    std::optional<std::pair<std::size_t, Window>> best;
    for (std::size_t at = 0; at < candidates_.size(); ++at) {
      Candidate& each = candidates_[at];
      if (each.stretch.load < limits.load_min) continue;
      Best& known = each.*kind;
      if (!known.holds(limits)) {
        known = {.load_min = limits.load_min,
                 .window = densest_window(each.stretch, price_, limits)};
      }
      if (!known.window) continue;
      if (!best || known.window->denser_than(best->second)) best.emplace(at, *known.window);
    }
    return best;
  }

  void take(std::size_t at, const Window& window) {
    CHECK(window.keys <= keys_left_ && cuts_of(window) <= cuts_left_);
    result_.windows.push_back(window);
    result_.load += window.load;
    result_.keys += window.keys;
    keys_left_ -= window.keys;
    cuts_left_ -= cuts_of(window);
    const Stretch from = candidates_[at].stretch;
    CHECK(from.range.contains(window.range.first) && from.range.contains(window.range.last));
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(at));
    if (from.range.last > window.range.last) {
      add_rest(from, {Token{window.range.last.value() + 1}, from.range.last});
    }
    if (from.range.first < window.range.first) {
      add_rest(from, {from.range.first, Token{window.range.first.value() - 1}});
    }
  }

  void add_rest(const Stretch& from, const ring::TokenRange& range) {
    const auto begin =
        std::ranges::lower_bound(from.tokens, range.first, {}, &heat::TokenLoad::token);
    const auto end = std::ranges::upper_bound(from.tokens, range.last, {}, &heat::TokenLoad::token);
    Stretch rest{.range = range, .tokens = {begin, end}, .fresh_cut = from.fresh_cut};
    for (const heat::TokenLoad& each : rest.tokens) rest.load += each.load;
    candidates_.push_back({.stretch = rest});
  }

  void take_whole_ranges() {
    std::vector<Stretch> stretches;
    stretches.reserve(candidates_.size());
    for (const Candidate& each : candidates_) stretches.push_back(each.stretch);
    std::ranges::sort(stretches, [&](const Stretch& left, const Stretch& right) {
      const Wide left_density = Wide{left.load} * (price_.keys_in(right.range) + 1);
      const Wide right_density = Wide{right.load} * (price_.keys_in(left.range) + 1);
      return left_density != right_density ? left_density > right_density
                                           : left.range.first < right.range.first;
    });
    for (const Stretch& each : stretches) {
      if (result_.windows.size() >= kWholeRangesMax || cuts_left_ == 0) break;
      if (each.load == 0 || each.load > wanted()) continue;
      Window whole{.range = each.range, .load = each.load, .keys = price_.keys_in(each.range)};
      if (whole.keys > keys_left_) {
        result_.lacked_keys = true;
        continue;
      }
      whole.cost = price_.bytes_in(each.range, whole.keys) + price_.piece_bytes;
      result_.windows.push_back(whole);
      result_.load += whole.load;
      result_.keys += whole.keys;
      keys_left_ -= whole.keys;
      --cuts_left_;
    }
  }

  std::vector<Candidate> candidates_;
  const Price& price_;
  const Appetite& appetite_;
  const Constants& constants_;
  std::uint64_t keys_left_;
  std::uint32_t cuts_left_;
  Pieces result_;
};

}  // namespace

Pieces choose_pieces(const std::vector<Stretch>& stretches, const Price& price,
                     const Appetite& appetite, const Constants& constants) {
  return Chooser(stretches, price, appetite, constants).run();
}

}  // namespace cleave::balance
