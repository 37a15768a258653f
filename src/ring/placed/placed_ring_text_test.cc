#include "ring/placed/placed_ring_text.h"

#include <gtest/gtest.h>

#include "base/damage_testing.h"
#include "ring/placed/placed_ring_testing.h"

namespace cleave::ring {
namespace {

constexpr std::string_view kGood =
    R"({"format":1,"scheme":"nginx","options":{"method":"consistent"},)"
    R"("nodes":[{"name":"a","weight":1,"rack":"","datacenter":""},)"
    R"({"name":"b","weight":2,"rack":"r1","datacenter":"d1"}],)"
    R"("cuts":[{"range":["0000000000000000","00000000ffffffff"],"node":"b"}]})";

// The good text with one part replaced. Requires: the part is in it.
std::string altered(std::string_view part, std::string_view by) {
  std::string text(kGood);
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

std::string complaint(std::string_view text) {
  const auto ring = parse_ring(text);
  EXPECT_FALSE(ring) << text;
  return ring ? "" : ring.error().message;
}

TEST(RingText, IsFrozen) {
  const auto ring = parse_ring(kGood);
  ASSERT_TRUE(ring) << ring.error().message;
  EXPECT_EQ(to_text(*ring), kGood);
  EXPECT_EQ(ring->owner(Token{5}), 1U);
}

TEST(RingText, RoundTrips) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const PlacedRing ring = testing::made(testing::random_spec(rng, 8));
    const std::string text = to_text(ring);
    const auto again = parse_ring(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_EQ(to_text(*again), text);
    ASSERT_EQ(again->nodes(), ring.nodes());
    ASSERT_EQ(again->spec().cuts, ring.spec().cuts);
    ASSERT_EQ(again->scheme().options, ring.scheme().options);
    ASSERT_EQ(again->arcs(), ring.arcs());
  }
}

TEST(RingText, MistakesAreToldWithTheirPlace) {
  const struct {
    std::string text;
    std::string_view want;
  } cases[] = {
      {"", "ring text: want JSON"},
      {"[1", "ring text: want JSON"},
      {"{}x", "ring text: want JSON"},
      {"7", "ring text: format: want 1, the only one this version reads"},
      {altered(R"("format":1)", R"("format":2)"),
       "ring text: format: want 1, the only one this version reads"},
      {altered(R"("format":1)", R"("format":1,"more":0)"), "ring text: want no field 'more'"},
      {altered(R"("format":1,)", R"("format":1,"format":1,)"),
       "ring text: want field 'format' only once in an object"},
      {altered(R"("rack":"r1")", R"("":1,"":2)"),
       "ring text: want field '' only once in an object"},
      {altered(R"("options":{"method":"consistent"},)", ""), "ring text: want a field 'options'"},
      {altered(R"("consistent")", "1"), "ring text: options.method: want a string"},
      {altered(R"("consistent")", R"("x")"),
       "ring text: scheme nginx: option method: 'x': want one of: plain, consistent"},
      {altered(R"("weight":2)", R"("weight":0)"),
       "ring text: node 'b': weight 0, want 1 to 1000000"},
      {altered(R"("weight":2)", R"("weight":1000001)"),
       "ring text: nodes[1].weight: want an integer from 1 to 1000000"},
      {altered(R"("weight":2)", R"("weight":-1)"),
       "ring text: nodes[1].weight: want an integer from 1 to 1000000"},
      {altered(R"("weight":2)", R"("weight":1.5)"),
       "ring text: nodes[1].weight: want an integer from 1 to 1000000"},
      {altered(R"("rack":"r1")", R"("rack":null)"), "ring text: nodes[1].rack: want a string"},
      {altered(R"("name":"b")", R"("name":"a")"), "ring text: two nodes are named 'a'"},
      {altered(R"(,"datacenter":"d1")", ""), "ring text: nodes[1]: want a field 'datacenter'"},
      {altered(R"("00000000ffffffff")", R"("00000000FFFFFFFF")"),
       "ring text: cuts[0].range[1]: want 16 lower-case hexadecimal digits in a string"},
      {altered(R"("00000000ffffffff")", "4294967295"),
       "ring text: cuts[0].range[1]: want 16 lower-case hexadecimal digits in a string"},
      {altered(R"(,"00000000ffffffff")", ""),
       "ring text: cuts[0].range: want [first token, last token]"},
      {altered(R"("node":"b")", R"("node":"z")"), "ring text: a cut: no node is named 'z'"},
      {std::string(100'000, '['), "ring text: want no deeper nesting than a ring has"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(complaint(text), want) << text.substr(0, 300);
}

TEST(RingText, LongerThanTheLimitIsRefusedUnread) {
  const std::string text(kRingTextBytesMax + 1, ' ');
  const auto ring = parse_ring(text);
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code, Code::kExhausted);
}

// As many cuts as there may be; in time that grows with the text, not with its square.
TEST(RingText, OfTheMostCutsRoundTrips) {
  RingSpec spec{.scheme = {.name = "vnode"}, .nodes = {{.name = "a"}, {.name = "b"}}};
  for (std::uint64_t i = 0; i < kLaidCutsMax; ++i) {
    const Token token{i << 40U};
    spec.cuts.push_back({{token, token}, i % 2 == 0 ? "a" : "b"});
  }
  const PlacedRing ring = testing::made(spec);
  const std::string text = to_text(ring);
  const auto again = parse_ring(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), text);
}

// Damaged texts: an error, or a ring that is written and read as the same, never a crash.
TEST(RingText, SurvivesDamage) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Rng rng(seed);
    const std::string other = to_text(testing::made(testing::random_spec(rng, 4)));
    const std::string text =
        rng.chance(1, 2) ? damaged(kGood, other, rng) : damaged(other, kGood, rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto ring = parse_ring(text);
    if (!ring) {
      ASSERT_TRUE(ring.error().message.starts_with("ring text: ")) << ring.error().message;
      continue;
    }
    ++taken;
    const auto again = parse_ring(to_text(*ring));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(to_text(*again), to_text(*ring));
    ASSERT_EQ(again->nodes(), ring->nodes());
    ASSERT_EQ(again->arcs(), ring->arcs());
  }
  EXPECT_GT(taken, 50U);
}

// One of the words that describe an option, as it is or damaged.
std::string any_value(const OptionText& option, Rng& rng) {
  const std::string_view text = option.values;
  const std::size_t blank = text.rfind(' ', rng.below(text.size()));
  const std::size_t start = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(start, text.find_first_of(" ,;:", start) - start);
  return rng.chance(1, 2) ? std::string(word) : damaged(word, text, rng);
}

TEST(RingText, OptionsAreRefusedOrKeptWhateverTheyAre) {
  const std::vector<SchemeText> all = schemes();
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Rng rng(seed);
    const SchemeText& scheme = all[seed % all.size()];
    RingSpec spec{.scheme = {.name = std::string(scheme.name)}, .nodes = {{.name = "a"}}};
    for (const OptionText& option : scheme.options) {
      if (rng.chance(1, 2)) spec.scheme.options.emplace(option.name, any_value(option, rng));
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto ring = PlacedRing::make(spec);
    if (!ring) {
      ASSERT_FALSE(ring.error().message.empty());
      continue;
    }
    if (!spec.scheme.options.empty()) ++taken;
    const auto again = parse_ring(to_text(*ring));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->scheme().options, spec.scheme.options);
    ASSERT_EQ(again->arcs(), ring->arcs());
  }
  EXPECT_GT(taken, 100U);
}

}  // namespace
}  // namespace cleave::ring
