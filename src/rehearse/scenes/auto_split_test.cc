#include "rehearse/scenes/auto_split.h"

#include <gtest/gtest.h>

namespace cleave::rehearse {
namespace {

using Counts = std::vector<NodeKeys>;

TEST(NaiveAutoSplit, LeavesEverythingOnTheFirstNode) {
  const NaiveAutoSplit naive = naive_auto_split(auto_split_input());
  EXPECT_EQ(naive.nodes, (Counts{{"机器A", 30}, {"机器B", 0}, {"机器C", 0}}));
  EXPECT_EQ(naive.splits, 0U);
  EXPECT_EQ(naive.why, "机器A: smallest token, skipped");
}

TEST(NaiveAutoSplit, PutsTheOtherKeysThereToo) {
  for (const char* key : {"用户1", "用户2", "用户3", "用户4"}) {
    EXPECT_EQ(naive_auto_split_owner(key), "机器A") << key;
  }
}

TEST(CleaveAutoSplit, StartsFromTheSameRing) {
  const CleaveAutoSplit cleave = cleave_auto_split(auto_split_input());
  EXPECT_EQ(cleave.three_nodes.before, naive_auto_split(auto_split_input()).nodes);
}

TEST(CleaveAutoSplit, ThreeNodesGetTenEachAndItSaysWhy) {
  const SplitStage stage = cleave_auto_split(auto_split_input()).three_nodes;
  EXPECT_EQ(stage.after, (Counts{{"机器A", 10}, {"机器B", 10}, {"机器C", 10}}));
  EXPECT_FALSE(stage.limit_met);
  EXPECT_EQ(stage.nodes_needed, 6U);
  EXPECT_EQ(stage.why,
            "30 keys on 3 nodes are at least 10 on one of them; a limit of 5 needs 6 nodes");
  EXPECT_EQ(stage.keys_moved, 20U);
  EXPECT_EQ(stage.keys_moved_least, 20U);
}

TEST(CleaveAutoSplit, SixNodesMeetTheLimit) {
  const SplitStage stage = cleave_auto_split(auto_split_input()).six_nodes;
  EXPECT_EQ(
      stage.after,
      (Counts{{"机器A", 5}, {"机器B", 5}, {"机器C", 5}, {"机器D", 5}, {"机器E", 5}, {"机器F", 5}}));
  EXPECT_TRUE(stage.limit_met);
  EXPECT_EQ(stage.why, "");
  EXPECT_EQ(stage.keys_max_reached, 5U);
  EXPECT_EQ(stage.keys_moved, 15U);
  EXPECT_EQ(stage.keys_moved_least, 15U);
}

TEST(CleaveAutoSplit, HashesOnlyTheKeysOfThePieces) {
  const CleaveAutoSplit cleave = cleave_auto_split(auto_split_input());
  for (const SplitStage* stage : {&cleave.three_nodes, &cleave.six_nodes}) {
    std::uint64_t keys = 0;
    for (const PieceMoved& piece : stage->pieces) keys += piece.keys;
    EXPECT_EQ(stage->keys_hashed, keys);
    EXPECT_EQ(stage->keys_moved, keys);
  }
}

// A piece that touches what its new owner already has becomes one range with it.
TEST(CleaveAutoSplit, MergesTheCrumbs) {
  EXPECT_EQ(cleave_auto_split(auto_split_input()).three_nodes.cuts_merged, 1U);
}

TEST(CleaveAutoSplit, EveryKeyIsWhereItsOwnerLooks) {
  EXPECT_EQ(cleave_auto_split(auto_split_input()).reads_missed, 0U);
}

TEST(CleaveAutoSplit, DoesNothingBelowTheLimit) {
  AutoSplitInput input = auto_split_input();
  input.keys_max = 30;
  const CleaveAutoSplit cleave = cleave_auto_split(input);
  EXPECT_TRUE(cleave.three_nodes.pieces.empty());
  EXPECT_TRUE(cleave.three_nodes.limit_met);
}

TEST(CleaveAutoSplit, KeysOfOneTokenStayTogether) {
  AutoSplitInput input{.keys = std::vector<std::string>(12, "user-0")};
  const CleaveAutoSplit cleave = cleave_auto_split(input);
  EXPECT_EQ(cleave.six_nodes.keys_max_reached, 12U);
  EXPECT_FALSE(cleave.six_nodes.limit_met);
}

}  // namespace
}  // namespace cleave::rehearse
