// How expected load is laid over the picture, for many events at once.
#include "balance/steps/expected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "balance/input/input_testing.h"
#include "balance/steps/input_check.h"

namespace cleave::balance {
namespace {

// Of a few entries, so that many share one: a token, a quarter, or all of it and some more.
ring::TokenRange any_range(Rng& rng, const ring::RingView& view) {
  const auto entries = view.entries();
  const std::size_t entry = rng.below(std::min<std::size_t>(entries.size(), 6));
  ring::TokenRange range = entries[entry].range;
  const std::uint64_t quarter = (range.last.value() - range.first.value()) / 4;
  switch (rng.below(3)) {
    case 0: range.first = range.last = Token{range.first.value() + rng.below(20)}; break;
    case 1:
      range.first = Token{range.first.value() + rng.below(4) * quarter};
      range.last = Token{range.first.value() + quarter};
      break;
    default: range.last = entries[std::min(entry + rng.below(3), entries.size() - 1)].range.last;
  }
  return range;
}

std::vector<Expected> any_events(Rng& rng, const Input& input) {
  std::vector<Expected> events;
  for (std::uint64_t count = 1 + rng.below(40); count > 0; --count) {
    events.push_back({.range = any_range(rng, *input.view),
                      .load = 1 + rng.below(kCore),
                      .lead_from = input.now,
                      .start = input.now,
                      .end = UnixMillis{input.now.value() + 1},
                      .event = "e" + std::to_string(rng.below(3))});
  }
  std::ranges::sort(events);
  return events;
}

// Laying all at once spares work, and is to change nothing.
TEST(ExpectedLaw, AllAtOnceIsOneAfterTheOther) {
  std::size_t laid = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Input input = random_input(seed);
    if (!distrust(input).text.empty()) continue;
    const std::vector<Expected> events = any_events(rng, input);
    Input single = input;
    std::map<NodeId, std::uint64_t> added;
    for (const Expected& each : events) {
      single.expected = {each};
      for (const auto& [node, phantom] : lay_expected(single)) added[node] += phantom.load;
    }
    input.expected = events;
    std::map<NodeId, std::uint64_t> added_at_once;
    for (const auto& [node, phantom] : lay_expected(input)) added_at_once[node] = phantom.load;
    ASSERT_EQ(added_at_once, added);
    ASSERT_EQ(input.picture, single.picture);
    laid += added.empty() ? 0U : 1U;
  }
  EXPECT_GE(laid, 500U);
}

}  // namespace
}  // namespace cleave::balance
