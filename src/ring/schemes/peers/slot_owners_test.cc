#include "ring/schemes/peers/slot_owners.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ring/schemes/hashes/crc.h"

namespace cleave::ring {
namespace {

using Owners = std::vector<std::uint32_t>;

Owners owners_of(const std::string& text, const std::vector<PlacedNode>& nodes,
                 std::uint32_t count) {
  const SchemeSpec spec{.name = "s", .options = {{"slots", text}}};
  OptionReader options(spec);
  Owners owners = slot_owners(options, nodes, count);
  EXPECT_FALSE(options.error()) << options.error()->message;
  return owners;
}

std::string refusal_of(const std::string& text) {
  const std::vector<PlacedNode> nodes = {{"a"}, {"b"}};
  const SchemeSpec spec{.name = "s", .options = {{"slots", text}}};
  OptionReader options(spec);
  EXPECT_EQ(slot_owners(options, nodes, 10).size(), 10U);
  return options.error() ? options.error()->message : "accepted";
}

TEST(SlotOwners, AreWhatTheTextSays) {
  const std::vector<PlacedNode> nodes = {{"a"}, {"b:1=x"}};
  EXPECT_EQ(owners_of("a=0-2,5;b:1=x=3,4", nodes, 6), (Owners{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(owners_of("b:1=x=0-5;a=", nodes, 6), (Owners{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(owners_of("a=0-5;", nodes, 6), (Owners{0, 0, 0, 0, 0, 0}));
}

TEST(SlotOwners, SpreadWhatIsNobodysByWeight) {
  const std::vector<PlacedNode> nodes = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(owners_of("", nodes, 6), (Owners{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(owners_of("a=5;gone=0,1", nodes, 6), (Owners{0, 0, 1, 1, 1, 0}));
}

TEST(SlotOwners, RefuseWhatIsWrong) {
  EXPECT_EQ(refusal_of("a=0-4;b=4-5"),
            "scheme s: option slots: '4-5': slot 4 is given to 'a' and to 'b'");
  EXPECT_EQ(refusal_of("a=0-4,3"),
            "scheme s: option slots: '3': slot 3 is given to 'a' and to 'a'");
  EXPECT_EQ(refusal_of("gone=1;b=1"),
            "scheme s: option slots: '1': slot 1 is given to 'gone' and to 'b'");
  EXPECT_EQ(refusal_of("a=1;a=2"), "scheme s: option slots: 'a': this node is there twice");
  for (const std::string text : {"a=10", "a=0-10", "a=5-4", "a=x", "a=1-", "a=-1", "a=1--2", "a=+1",
                                 "a= 1", "a=1,,2", "a=99999999999999999999"}) {
    EXPECT_NE(refusal_of(text).find("want slots from 0 to 9"), std::string::npos) << text;
  }
  for (const std::string text : {"a", "=1", ";a=1", "a=1;;b=2", "1-2"}) {
    EXPECT_NE(refusal_of(text).find("want NODE="), std::string::npos) << text;
  }
}

// The text of owners, with the ranges of each in a random order and cut at random places.
std::string text_of(const Owners& owners, const std::vector<PlacedNode>& nodes, Rng& rng) {
  std::vector<std::vector<std::string>> ranges(nodes.size());
  for (std::size_t slot = 0; slot < owners.size();) {
    std::size_t last = slot;
    while (last + 1 < owners.size() && owners[last + 1] == owners[slot] && !rng.chance(1, 9))
      ++last;
    std::vector<std::string>& mine = ranges[owners[slot]];
    const std::string text =
        last == slot ? std::to_string(slot) : std::to_string(slot) + "-" + std::to_string(last);
    mine.insert(mine.begin() + static_cast<std::ptrdiff_t>(rng.below(mine.size() + 1)), text);
    slot = last + 1;
  }
  std::string all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    all += (all.empty() ? "" : ";") + nodes[i].name + "=";
    for (std::size_t at = 0; at < ranges[i].size(); ++at)
      all += (at == 0 ? "" : ",") + ranges[i][at];
  }
  return all;
}

TEST(SlotOwners, ComeBackFromTheirText) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<PlacedNode> nodes(1 + rng.below(5));
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = "n=" + std::to_string(i);
    Owners owners(1 + rng.below(80));
    for (std::uint32_t& owner : owners) owner = static_cast<std::uint32_t>(rng.below(nodes.size()));
    const auto count = static_cast<std::uint32_t>(owners.size());
    ASSERT_EQ(owners_of(text_of(owners, nodes, rng), nodes, count), owners);
  }
}

// A node that leaves gives up its own slots and nobody else's.
TEST(SlotOwners, AreKeptWhenANodeLeaves) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<PlacedNode> nodes = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}};
    Owners owners(64);
    for (std::uint32_t& owner : owners) owner = static_cast<std::uint32_t>(rng.below(4));
    const std::string text = text_of(owners, nodes, rng);
    const std::size_t gone = rng.below(4);
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(gone));
    const Owners after = owners_of(text, nodes, 64);
    for (std::size_t slot = 0; slot < 64; ++slot) {
      ASSERT_LT(after[slot], 3U);
      if (owners[slot] != gone) {
        ASSERT_EQ(after[slot], owners[slot] - (owners[slot] > gone ? 1 : 0));
      }
    }
  }
}

TEST(SlotOwners, PlaceTheKeysOfTheirPeers) {
  const std::vector<PlacedNode> nodes = {{"a"}, {"b"}};
  const auto codis =
      place({.name = "codis", .options = {{"slots", "b=0-99,101-1023;a=100"}}}, nodes);
  const auto cluster = place(
      {.name = "redis-cluster", .options = {{"slots", "b=0-12181,12183-16383;a=12182"}}}, nodes);
  ASSERT_TRUE(codis && cluster);
  EXPECT_EQ((*cluster)->owner("foo"), 0U);  // CLUSTER KEYSLOT foo: 12182
  EXPECT_EQ((*cluster)->owner("bar"), 1U);
  std::size_t of_a = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const bool is_100 = crc32(key) % 1024 == 100;
    ASSERT_EQ((*codis)->owner(key), is_100 ? 0U : 1U);
    of_a += is_100 ? 1 : 0;
  }
  EXPECT_GT(of_a, 0U);
}

}  // namespace
}  // namespace cleave::ring
