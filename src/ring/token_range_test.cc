#include "ring/token_range.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::ring {
namespace {

constexpr std::uint64_t kMax = kLastToken.value();

TokenRange range(std::uint64_t first, std::uint64_t last) { return {Token{first}, Token{last}}; }

TEST(TokenRange, HoldsBothEnds) {
  EXPECT_TRUE(range(3, 5).contains(Token{3}));
  EXPECT_TRUE(range(3, 5).contains(Token{5}));
  EXPECT_FALSE(range(3, 5).contains(Token{2}));
  EXPECT_FALSE(range(3, 5).contains(Token{6}));
}

TEST(RangeSet, JoinsNeighboursAndOverlaps) {
  EXPECT_EQ(normalised({range(7, 9), range(1, 3), range(4, 5), range(8, 12)}),
            (RangeSet{range(1, 5), range(7, 12)}));
}

TEST(RangeSet, DoesNotJoinAcrossTheEndOfTheRing) {
  EXPECT_EQ(normalised({range(kMax, kMax), range(0, 0)}),
            (RangeSet{range(0, 0), range(kMax, kMax)}));
  EXPECT_EQ(normalised({range(0, kMax), range(5, 6)}), (RangeSet{range(0, kMax)}));
}

TEST(RangeSet, SharesInMillionths) {
  EXPECT_EQ(share_ppm({}), 0U);
  EXPECT_EQ(share_ppm({range(0, kMax)}), 1'000'000U);
  EXPECT_EQ(share_ppm({range(0, kMax / 2)}), 500'000U);
  EXPECT_EQ(share_ppm({range(0, kMax / 4), range(kMax / 2 + 1, kMax)}), 750'000U);
  EXPECT_EQ(share_ppm({range(0, 0)}), 0U);
}

// A set of 64 neighbouring tokens as the bits of a word: the model of the set operations.
class Model {
 public:
  Model(std::uint64_t offset, Rng& rng) : offset_(offset) {
    for (std::uint64_t count = rng.below(6); count > 0; --count) {
      const std::uint64_t first = rng.below(64);
      const std::uint64_t last = first + rng.below(64 - first) / 4;
      for (std::uint64_t at = first; at <= last; ++at) bits |= std::uint64_t{1} << at;
      ranges.push_back(range(offset + first, offset + last));
    }
  }

  // The canonical form of the set with those bits.
  RangeSet set(std::uint64_t of) const {
    RangeSet result;
    for (std::uint64_t at = 0; at < 64; ++at) {
      if ((of >> at & 1U) == 0) continue;
      const bool starts = at == 0 || (of >> (at - 1) & 1U) == 0;
      if (starts) result.push_back(range(offset_ + at, offset_ + at));
      result.back().last = Token{offset_ + at};
    }
    return result;
  }

  std::uint64_t bits = 0;
  std::vector<TokenRange> ranges;

 private:
  std::uint64_t offset_;
};

TEST(RangeSet, OperationsAgreeWithSetsOfBits) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::uint64_t offset = rng.chance(1, 2) ? 0 : kMax - 63;  // both ends of the ring
    const Model left(offset, rng);
    const Model right(offset, rng);
    const RangeSet l = normalised(left.ranges);
    const RangeSet r = normalised(right.ranges);
    ASSERT_EQ(l, left.set(left.bits));
    ASSERT_EQ(overlap(l, r), (left.bits & right.bits) != 0);
    ASSERT_EQ(difference(l, r), left.set(left.bits & ~right.bits));
    for (const TokenRange& each : l) ASSERT_EQ(outside(each, r), difference({each}, r));
    const std::uint64_t at = rng.below(64);
    ASSERT_EQ(contains(l, Token{offset + at}), (left.bits >> at & 1U) != 0);
  }
}

TEST(TokenText, IsSixteenDigits) {
  EXPECT_EQ(to_hex(Token{0}), "0000000000000000");
  EXPECT_EQ(to_hex(Token{0x00C0FFEE00000000U}), "00c0ffee00000000");
  EXPECT_EQ(to_hex(kLastToken), "ffffffffffffffff");
}

TEST(TokenText, RoundTrips) {
  Rng rng(7);
  for (int i = 0; i < 1'000; ++i) {
    const Token token{rng.next() >> rng.below(64)};
    ASSERT_EQ(parse_token(to_hex(token)).value_or(Token{}), token) << to_hex(token);
  }
}

TEST(TokenText, TakesShortAndPrefixedForms) {
  EXPECT_EQ(parse_token("0").value_or(kLastToken), Token{0});
  EXPECT_EQ(parse_token("0xFf").value_or(kLastToken), Token{255});
  EXPECT_EQ(parse_token("0x00c0ffee00000000").value_or(kLastToken), Token{0x00C0FFEE00000000U});
}

TEST(TokenText, RefusesWhatIsNone) {
  for (const char* text : {"", "0x", "g", "-1", "+1", " 1", "1 ", "0x0x1", "11112222333344445"}) {
    const auto token = parse_token(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().code, Code::kInvalid);
    EXPECT_NE(token.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

TEST(TokenText, ShowsRangesAsOrdersTakeThem) {
  EXPECT_EQ(to_string(range(1, 0xFF)), "0000000000000001-00000000000000ff");
  EXPECT_EQ(to_string(range(0, kLastToken.value())), "0000000000000000-ffffffffffffffff");
}

}  // namespace
}  // namespace cleave::ring
