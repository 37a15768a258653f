#include "balance/steps/input_check.h"

#include <algorithm>
#include <cstddef>

namespace cleave::balance {
namespace {

bool known_time(UnixMillis time) {
  return time.value() >= 0 && static_cast<std::uint64_t>(time.value()) <= kAmountMax;
}

bool believable(const heat::Load& load) {
  return std::max({load.tick, load.mean, load.slow, load.peak}) <= kAmountMax;
}

// Each up to kAmountMax and together too: 64 bits hold the sum of two.
template <class List, class Amount>
bool sum_fits(const List& list, Amount amount) {
  std::uint64_t sum = 0;
  for (const auto& each : list) {
    if (amount(each) > kAmountMax) return false;
    sum += amount(each);
    if (sum > kAmountMax) return false;
  }
  return true;
}

bool loads_fit(const heat::Picture& picture) {
  const auto amounts = {&heat::Load::tick, &heat::Load::mean, &heat::Load::slow};
  for (const auto amount : amounts) {
    const auto of = [&](const auto& each) { return each.load.*amount; };
    if (!sum_fits(picture.ranges, of) || !sum_fits(picture.nodes, of)) return false;
  }
  const auto all = [](const auto& each) { return believable(each.load); };
  return std::ranges::all_of(picture.ranges, all) && std::ranges::all_of(picture.nodes, all) &&
         sum_fits(picture.tokens, [](const heat::TokenLoad& each) { return each.load; });
}

bool same_ranges(const heat::Picture& picture, const ring::RingView& view) {
  return std::ranges::equal(picture.ranges, view.entries(),
                            [](const heat::RangeLoad& seen, const ring::Entry& entry) {
                              return seen.range == entry.range && seen.node == entry.node;
                            });
}

// Strictly: each thing once.
template <class List, class Key>
bool ordered_by(const List& list, Key key) {
  return std::ranges::adjacent_find(list, std::ranges::greater_equal{}, key) == list.end();
}

std::string doubt_of(const Input& input) {
  const heat::Picture& picture = input.picture;
  if (!same_ranges(picture, *input.view)) return "the picture lists other ranges than the ring has";
  if (!ordered_by(picture.tokens, &heat::TokenLoad::token)) {
    return "the picture's tokens are not sorted, or one is in it twice";
  }
  if (!ordered_by(picture.nodes, &heat::NodeLoad::node)) {
    return "the picture's nodes are not sorted, or one is in it twice";
  }
  if (!loads_fit(picture)) return "the picture has loads that no servers could carry";
  return known_time(input.now) ? "" : "the clock shows a time that cannot be";
}

}  // namespace

Verdict distrust(const Input& input) {
  if (input.picture.epoch != input.view->epoch()) {
    return {.why = Why::kNoHeat, .text = "the picture is of another ring"};
  }
  return {.why = Why::kBadInput, .text = doubt_of(input)};
}

std::string distrust(const NodeFacts& facts) {
  const bool fits = std::max({facts.capacity, facts.keys, facts.bytes_per_key, facts.memory_bytes,
                              facts.memory_bytes_max}) <= kAmountMax &&
                    Wide{facts.keys} * facts.bytes_per_key <= kAmountMax;
  if (!fits) return "what its server says of itself cannot be";
  const bool sorted = std::ranges::is_sorted(facts.key_sample, {}, &KeySample::token);
  const auto bytes = [](const KeySample& each) { return each.bytes; };
  const auto weight = [](const KeySample& each) { return std::uint64_t{each.weight_ppm}; };
  const bool sums = sum_fits(facts.key_sample, bytes) && sum_fits(facts.key_sample, weight);
  return sorted && sums ? "" : "its sample of keys cannot be";
}

bool absurd(const PastMove& move) {
  const auto backwards = [](const ring::TokenRange& each) { return each.last < each.first; };
  return !known_time(move.ended) || move.keys > kAmountMax ||
         std::ranges::any_of(move.ranges, backwards);
}

}  // namespace cleave::balance
