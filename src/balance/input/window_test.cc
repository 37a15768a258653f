#include "balance/input/window.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

using Tokens = std::vector<heat::TokenLoad>;

ring::TokenRange range(std::uint64_t first, std::uint64_t last) {
  return {Token{first}, Token{last}};
}

Stretch stretch_of(const ring::TokenRange& range, const Tokens& tokens) {
  Stretch stretch{.range = range, .load = 0, .tokens = tokens};
  for (const heat::TokenLoad& each : tokens) stretch.load += each.load;
  return stretch;
}

// A key for each token of 0 .. 999.
constexpr Price kWindowPrice{.keys = 1'000, .width = 1'000, .bytes_per_key = 1, .piece_bytes = 1};
constexpr std::uint64_t kAny = ~std::uint64_t{0} >> 1U;

WindowLimits limits(std::uint64_t load_min, std::uint64_t load_max) {
  return {.load_min = load_min, .load_max = load_max, .keys_max = kAny, .heavy_load = kAny};
}

TEST(DensestWindow, FindsTheHotMiddle) {
  const Tokens tokens{
      {Token{10}, 5, 9}, {Token{500}, 50, 9}, {Token{505}, 50, 9}, {Token{900}, 5, 9}};
  const auto window =
      densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, limits(90, 105));
  ASSERT_TRUE(window);
  EXPECT_EQ(window->range, range(500, 505));
  EXPECT_EQ(window->load, 100U);
  EXPECT_EQ(window->keys, 6U);
  EXPECT_EQ(window->boundaries, 2U);
}

TEST(DensestWindow, PrefersAnEdgeThatCostsLittleMore) {
  const Tokens tokens{
      {Token{0}, 1, 9}, {Token{2}, 100, 9}, {Token{20}, 100, 9}, {Token{900}, 50, 9}};
  WindowLimits few = limits(150, 220);
  few.few_cuts_ppm = 800'000;
  const auto window = densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, few);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->range, range(0, 20));
  EXPECT_EQ(window->boundaries, 1U);
}

TEST(DensestWindow, PrefersTheWholeRangeThatCostsLittleMore) {
  const Tokens tokens{{Token{100}, 100, 9}, {Token{195}, 100, 9}};
  WindowLimits few = limits(150, 220);
  few.few_cuts_ppm = 800'000;
  const auto window = densest_window(stretch_of(range(95, 200), tokens), kWindowPrice, few);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->range, range(95, 200));
  EXPECT_EQ(window->boundaries, 0U);
}

TEST(DensestWindow, CannotCutATokenApart) {
  const Tokens tokens{{Token{500}, 1'000, 9}};
  EXPECT_FALSE(densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, limits(90, 500)));
}

TEST(DensestWindow, PassesAHeavyTokenBy) {
  const Tokens tokens{
      {Token{100}, 60, 9}, {Token{500}, 1'000, 9}, {Token{700}, 60, 9}, {Token{800}, 30, 9}};
  const auto window =
      densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, limits(80, 100));
  ASSERT_TRUE(window);
  EXPECT_EQ(window->range, range(700, 800));
}

TEST(DensestWindow, StaysWithinTheKeys) {
  const Tokens tokens{{Token{100}, 50, 9}, {Token{400}, 50, 9}};
  WindowLimits few_keys = limits(90, 110);
  few_keys.keys_max = 100;
  EXPECT_FALSE(densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, few_keys));
}

TEST(DensestWindow, WidensANarrowOneAndLeavesAHeavyTokenAlone) {
  const Tokens tokens{{Token{500}, 100, 9}};
  WindowLimits wide = limits(90, 110);
  wide.keys_min = 32;
  const Stretch stretch = stretch_of(range(0, 999), tokens);
  const auto widened = densest_window(stretch, kWindowPrice, wide);
  ASSERT_TRUE(widened);
  EXPECT_NEAR(static_cast<double>(widened->keys), 32.0, 1.0);
  EXPECT_TRUE(widened->range.contains(Token{500}));
  wide.heavy_load = 100;
  EXPECT_EQ(densest_window(stretch, kWindowPrice, wide)->range, range(500, 500));
}

TEST(DensestWindow, ARangeThatWasCutJustNowIsCutAgainOnlyForSomethingHeavy) {
  const Tokens tokens{{Token{500}, 100, 9}, {Token{900}, 300, 9}};
  Stretch stretch = stretch_of(range(0, 999), tokens);
  stretch.fresh_cut = true;
  WindowLimits some = limits(50, 150);
  some.heavy_load = 200;
  EXPECT_FALSE(densest_window(stretch, kWindowPrice, some));
  some.load_max = 350;
  EXPECT_EQ(densest_window(stretch, kWindowPrice, some)->range, range(900, 900));
  some.load_max = 500;
  some.few_cuts_ppm = 1;
  EXPECT_EQ(densest_window(stretch, kWindowPrice, some)->range, range(0, 999));  // whole: no cut
}

TEST(DensestWindow, TrustsNoTwoSamples) {
  const Tokens tokens{{Token{500}, 100, 2}, {Token{900}, 3, 50}};
  WindowLimits sure = limits(90, 102);
  sure.samples_min = 16;
  EXPECT_FALSE(densest_window(stretch_of(range(0, 999), tokens), kWindowPrice, sure));
}

TEST(DensestWindow, TakesARangeWithoutSamplesWholeOrNotAtAll) {
  Stretch stretch{.range = range(0, 999), .load = 100};
  EXPECT_EQ(densest_window(stretch, kWindowPrice, limits(90, 110))->range, range(0, 999));
  EXPECT_FALSE(densest_window(stretch, kWindowPrice, limits(40, 60)));
}

// Every window lies in its stretch, keeps the limits and carries what it says; and no window of
// whole samples that fits is more than twice as dense (it tries few sizes, each halved).
TEST(DensestWindow, KeepsItsWordAndIsNearTheBest) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Rng rng(seed);
    Tokens tokens;
    for (std::uint64_t at = rng.below(50); at < 1'000; at += 1 + rng.below(80)) {
      tokens.push_back({Token{at}, 1 + rng.below(rng.chance(1, 5) ? 300 : 20), 9});
    }
    const Stretch stretch = stretch_of(range(0, 999), tokens);
    const WindowLimits some = limits(20 + rng.below(50), 100 + rng.below(400));
    const auto window = densest_window(stretch, kWindowPrice, some);
    std::optional<Window> best;
    for (std::size_t first = 0; first < tokens.size(); ++first) {
      std::uint64_t load = 0;
      for (std::size_t last = first; last < tokens.size(); ++last) {
        load += tokens[last].load;
        if (load < some.load_min || load > some.load_max) continue;
        const Window each{{tokens[first].token, tokens[last].token},
                          load,
                          0,
                          tokens[last].token.value() - tokens[first].token.value() + 2,
                          2};
        if (!best || each.denser_than(*best)) best = each;
      }
    }
    if (!window) {
      ASSERT_FALSE(best) << "seed " << seed;
      continue;
    }
    ++found;
    std::uint64_t load = 0;
    for (const heat::TokenLoad& each : tokens)
      load += window->range.contains(each.token) ? each.load : 0;
    ASSERT_EQ(load, window->load) << "seed " << seed;
    ASSERT_TRUE(load >= some.load_min && load <= some.load_max) << "seed " << seed;
    ASSERT_LE(window->range.last, Token{999});
    if (best) {
      ASSERT_GE(2 * Wide{window->load} * best->cost, Wide{best->load} * window->cost)
          << "seed " << seed;
    }
  }
  EXPECT_GT(found, 1'500U);
}

TEST(Price, CountsKeysByWidthOverTheWholeRing) {
  const Price whole{.keys = 1'000'000, .width = ring::kAllTokens};
  EXPECT_EQ(whole.keys_in({ring::kFirstToken, ring::kLastToken}), 1'000'000U);
  EXPECT_EQ(whole.keys_in({ring::kFirstToken, Token{ring::kLastToken.value() / 2}}), 500'000U);
  EXPECT_EQ(whole.keys_in({Token{5}, Token{5}}), 0U);
}

}  // namespace
}  // namespace cleave::balance
