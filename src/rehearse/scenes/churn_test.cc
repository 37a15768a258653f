#include "rehearse/scenes/churn.h"

#include <gtest/gtest.h>

namespace cleave::rehearse {
namespace {

std::vector<std::uint64_t> keys_of(const ChurnStage& stage) {
  std::vector<std::uint64_t> keys;
  for (const ChurnNode& node : stage.nodes) keys.push_back(node.keys);
  return keys;
}

using Keys = std::vector<std::uint64_t>;

TEST(NaiveChurn, GivesTheRingToAlmostOneNode) {
  ChurnInput input = churn_input();
  for (const std::uint32_t points : {150U, 500U}) {
    input.naive_points = points;
    const NaiveChurn naive = naive_churn(input);
    ASSERT_EQ(naive.stages.size(), 3U);
    EXPECT_EQ(keys_of(naive.stages[0]), (Keys{9'010, 990})) << points;
    EXPECT_EQ(keys_of(naive.stages[1]), (Keys{10, 90, 9'900})) << points;
    EXPECT_EQ(keys_of(naive.stages[2]), (Keys{100, 9'900})) << points;
    EXPECT_EQ(naive.stages[2].nodes[1].name, "CacheServer-C");
  }
}

TEST(NaiveChurn, WithThreePointsAHasAll) {
  ChurnInput input = churn_input();
  input.naive_points = 3;
  for (const ChurnStage& stage : naive_churn(input).stages) {
    EXPECT_EQ(stage.nodes[0].keys, 10'000U) << stage.name;
  }
}

TEST(NaiveChurn, PlacesTheWatchedKeys) {
  const NaiveChurn naive = naive_churn(churn_input());
  ASSERT_EQ(naive.watched.size(), 3U);
  EXPECT_EQ(naive.watched[0].key, "product:12345");
  EXPECT_EQ(naive.watched[0].after_join, "CacheServer-C");
  EXPECT_EQ(naive.watched[0].after_leave, "CacheServer-C");
  EXPECT_EQ(naive.watched[1].key, "user:session:abcde");
  EXPECT_EQ(naive.watched[1].after_join, "CacheServer-C");
  EXPECT_EQ(naive.watched[1].after_leave, "CacheServer-C");
  EXPECT_EQ(naive.watched[2].key, "item:999");
  EXPECT_EQ(naive.watched[2].after_join, "CacheServer-A");
  EXPECT_EQ(naive.watched[2].after_leave, "CacheServer-A");
}

TEST(NaiveChurn, FirstSixtyKeysAreTenOnAThenFiftyOnB) {
  std::vector<std::string> expected(10, "CacheServer-A");
  expected.resize(60, "CacheServer-B");
  EXPECT_EQ(naive_churn(churn_input()).first_keys, expected);
}

TEST(ModuloChurn, MovesTwoThirdsOfTheKeysBothWays) {
  const ModuloChurn modulo = modulo_churn(churn_input());
  EXPECT_EQ(modulo.keys, 10'000U);
  EXPECT_EQ(modulo.moved_by_join, 6'663U);
  EXPECT_EQ(modulo.moved_by_leave, modulo.moved_by_join);
}

// The share and the keys that the node's weight entitles it to, within 2 % and 5 %.
void expect_by_weight(const ChurnStage& stage) {
  std::uint64_t weights = 0;
  std::uint64_t keys = 0;
  for (const ChurnNode& node : stage.nodes) {
    weights += node.weight;
    keys += node.keys;
  }
  EXPECT_EQ(keys, 10'000U);
  for (const ChurnNode& node : stage.nodes) {
    SCOPED_TRACE(stage.name + " " + node.name);
    const std::uint64_t share = 1'000'000 * node.weight / weights;
    EXPECT_GE(node.share_ppm, share * 98 / 100);
    EXPECT_LE(node.share_ppm, share * 102 / 100);
    EXPECT_GE(node.keys * weights * 100, 10'000 * node.weight * 95);
    EXPECT_LE(node.keys * weights * 100, 10'000 * node.weight * 105);
  }
}

TEST(CleaveChurn, OwnershipFollowsTheWeights) {
  for (const auto& weights : {std::vector<std::uint32_t>{1, 1, 1}, {1, 2, 3}, {3, 1, 2}}) {
    ChurnInput input = churn_input();
    input.weights = weights;
    const CleaveChurn cleave = cleave_churn(input);
    ASSERT_EQ(cleave.stages.size(), 3U);
    for (const CleaveChurnStage& stage : cleave.stages) expect_by_weight(stage.stage);
  }
}

TEST(CleaveChurn, NoMoreMovesThanMust) {
  for (const auto& weights : {std::vector<std::uint32_t>{1, 1, 1}, {1, 2, 3}, {3, 1, 2}}) {
    ChurnInput input = churn_input();
    input.weights = weights;
    for (const CleaveChurnStage& stage : cleave_churn(input).stages) {
      EXPECT_LE(stage.moved_ppm, stage.moved_least_ppm) << stage.stage.name;
    }
  }
}

TEST(CleaveChurn, AJoinMovesAThirdAndSoDoesALeave) {
  const CleaveChurn cleave = cleave_churn(churn_input());
  EXPECT_EQ(cleave.stages[0].moved_ppm, 0U);
  for (const std::size_t stage : {1U, 2U}) {
    EXPECT_GE(cleave.stages[stage].moved_ppm, 320'000U);
    EXPECT_LE(cleave.stages[stage].moved_ppm, 340'000U);
  }
}

TEST(CleaveChurn, TheLeaverIsGone) {
  const ChurnStage stage = cleave_churn(churn_input()).stages[2].stage;
  ASSERT_EQ(stage.nodes.size(), 2U);
  EXPECT_EQ(stage.nodes[0].name, "CacheServer-A");
  EXPECT_EQ(stage.nodes[1].name, "CacheServer-C");
}

// A node takes a range only after its keys are copied: at every epoch the owner has the key.
TEST(CleaveChurn, EveryKeyIsWhereItsOwnerLooks) {
  EXPECT_EQ(cleave_churn(churn_input()).reads_missed, 0U);
}

}  // namespace
}  // namespace cleave::rehearse
