#include "heat/space_saving.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace cleave::heat {
namespace {

TEST(SpaceSaving, CountsExactlyWhileThereIsRoom) {
  SpaceSaving keys;
  keys.add("a", Token{1}, 5);
  keys.add("b", Token{2}, 7);
  keys.add("a", Token{1}, 4);
  const std::vector<HotKey> top = keys.top(NodeId{3}, 10);
  ASSERT_EQ(top.size(), 2U);
  const HotKey want{"a", Token{1}, NodeId{3}, 9, 0};
  EXPECT_EQ(top[0], want);
  EXPECT_EQ(top[1].key, "b");
}

TEST(SpaceSaving, TellsLongKeysOfOneBeginningApart) {
  SpaceSaving keys;
  const std::string beginning(200, 'x');
  keys.add(beginning + "1", Token{1}, 1);
  keys.add(beginning + "2", Token{2}, 1);
  EXPECT_EQ(keys.top(NodeId{1}, 10).size(), 2U);
}

TEST(SpaceSaving, ForgetsWhenCleared) {
  SpaceSaving keys;
  keys.add("a", Token{1}, 5);
  keys.clear();
  EXPECT_TRUE(keys.top(NodeId{1}, 10).empty());
}

// The theorem: every key above total / 64 is there, and its true weight lies within the bounds.
TEST(SpaceSaving, FindsEveryHeavyKeyWithinItsBounds) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    SpaceSaving keys;
    std::map<std::string, std::uint64_t> truth;
    std::uint64_t total = 0;
    for (int count = 0; count < 600; ++count) {
      const std::string key = std::to_string(rng.below(rng.chance(1, 3) ? 4 : 200));
      const std::uint64_t weight = 1 + rng.below(20);
      keys.add(key, Token{1}, weight);
      truth[key] += weight;
      total += weight;
    }
    const std::vector<HotKey> top = keys.top(NodeId{1}, SpaceSaving::kCounters);
    std::map<std::string, HotKey> found;
    for (const HotKey& each : top) {
      found[each.key] = each;
      ASSERT_LE(each.weight_ns - each.error_ns, truth[each.key]) << "seed " << seed;
      ASSERT_GE(each.weight_ns, truth[each.key]) << "seed " << seed;
      ASSERT_LE(each.error_ns, total / SpaceSaving::kCounters) << "seed " << seed;
    }
    for (const auto& [key, weight] : truth) {
      if (weight > total / SpaceSaving::kCounters) {
        ASSERT_TRUE(found.contains(key)) << "seed " << seed << " key " << key;
      }
    }
  }
}

}  // namespace
}  // namespace cleave::heat
