#include "balance/input/pieces.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::balance {
namespace {

using Tokens = std::vector<heat::TokenLoad>;

constexpr Price kPrice{.keys = 10'000, .width = 10'000, .bytes_per_key = 1, .piece_bytes = 1};
constexpr Constants kConstants;

Appetite appetite(std::uint64_t load) {
  return {.load = load,
          .load_min = 1,
          .keys_max = 10'000,
          .cuts_max = 1'000,
          .piece_min = 5,
          .heavy_load = 50,
          .piece_keys = 0};
}

Stretch stretch_of(std::uint64_t first, std::uint64_t last, const Tokens& tokens) {
  Stretch stretch{.range = {Token{first}, Token{last}}, .load = 0, .tokens = tokens};
  for (const heat::TokenLoad& each : tokens) stretch.load += each.load;
  return stretch;
}

TEST(ChoosePieces, TakesSeveralWindowsFromSeveralRanges) {
  const Tokens left{{Token{100}, 40, 99}, {Token{500}, 30, 99}, {Token{900}, 5, 99}};
  const Tokens right{{Token{2'500}, 30, 99}};
  const Pieces pieces = choose_pieces({stretch_of(0, 999, left), stretch_of(2'000, 2'999, right)},
                                      kPrice, appetite(100), kConstants);
  EXPECT_EQ(pieces.windows.size(), 3U);
  EXPECT_EQ(pieces.load, 100U);
  EXPECT_LE(pieces.keys, 3U);
}

TEST(ChoosePieces, TakesNoMoreThanIsWanted) {
  const Tokens tokens{{Token{100}, 40, 99}, {Token{500}, 40, 99}, {Token{900}, 40, 99}};
  EXPECT_EQ(choose_pieces({stretch_of(0, 999, tokens)}, kPrice, appetite(85), kConstants).load,
            80U);
}

TEST(ChoosePieces, LeavesWhatNobodyCouldTake) {
  const Tokens tokens{{Token{100}, 1'000, 99}, {Token{500}, 40, 99}};
  const Pieces pieces =
      choose_pieces({stretch_of(0, 999, tokens)}, kPrice, appetite(100), kConstants);
  ASSERT_EQ(pieces.windows.size(), 1U);
  EXPECT_FALSE(pieces.windows[0].range.contains(Token{100}));
}

TEST(ChoosePieces, TakesWholeColdRangesWhenWindowsDoNotHelp) {
  std::vector<Stretch> cold;
  for (std::uint64_t at = 0; at < 40; ++at) {
    cold.push_back({.range = {Token{at * 100}, Token{at * 100 + 99}}, .load = 2});
  }
  const Pieces pieces = choose_pieces(cold, kPrice, appetite(60), kConstants);
  EXPECT_EQ(pieces.load, 60U);
  EXPECT_EQ(pieces.keys, 3'000U);
}

TEST(ChoosePieces, SaysWhatItLacked) {
  const Tokens tokens{{Token{100}, 40, 99}, {Token{500}, 40, 99}};
  const std::vector<Stretch> from{stretch_of(0, 999, tokens)};
  Appetite no_keys = appetite(80);
  no_keys.keys_max = 0;
  EXPECT_TRUE(choose_pieces(from, kPrice, no_keys, kConstants).lacked_keys);
  Appetite no_cuts = appetite(80);
  no_cuts.cuts_max = 1;
  EXPECT_TRUE(choose_pieces(from, kPrice, no_cuts, kConstants).lacked_cuts);
  EXPECT_FALSE(choose_pieces(from, kPrice, appetite(80), kConstants).lacked_keys);
}

TEST(ChoosePieces, KeepsItsLimits) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    std::vector<Tokens> tokens(1 + rng.below(6));
    std::vector<Stretch> from;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      for (std::uint64_t token = at * 1'000; token < at * 1'000 + 900;
           token += 1 + rng.below(200)) {
        tokens[at].push_back({Token{token}, 1 + rng.below(60), 99});
      }
      from.push_back(stretch_of(at * 1'000, at * 1'000 + 999, tokens[at]));
      from.back().fresh_cut = rng.chance(1, 5);
    }
    Appetite some = appetite(20 + rng.below(300));
    some.keys_max = rng.below(3'000);
    some.cuts_max = static_cast<std::uint32_t>(rng.below(20));
    some.piece_keys = rng.below(40);
    const Pieces pieces = choose_pieces(from, kPrice, some, kConstants);
    std::vector<ring::TokenRange> ranges;
    std::uint64_t load = 0;
    std::uint64_t keys = 0;
    std::uint32_t cuts = 0;
    for (const Window& each : pieces.windows) {
      for (const ring::TokenRange& other : ranges) {
        ASSERT_FALSE(other.overlaps(each.range)) << "seed " << seed;
      }
      ranges.push_back(each.range);
      load += each.load;
      keys += each.keys;
      cuts += cuts_of(each);
    }
    ASSERT_EQ(load, pieces.load) << "seed " << seed;
    ASSERT_EQ(keys, pieces.keys) << "seed " << seed;
    ASSERT_LE(load, some.load * 105 / 100 + 1) << "seed " << seed;
    ASSERT_LE(keys, some.keys_max) << "seed " << seed;
    ASSERT_LE(cuts, some.cuts_max) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::balance
