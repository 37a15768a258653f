#include "rehearse/transfers.h"

#include <gtest/gtest.h>

namespace cleave::rehearse {
namespace {

constexpr std::uint64_t kSecondOfBytes = Transfers::kBytesPerSecond;
const std::vector<std::uint32_t> kIdle = {0, 0, 0, 0};

Transfer between(std::uint32_t source, std::uint32_t destination) {
  return {.id = MoveId{source},
          .promise = {.planned = {.source = NodeId{source}, .destination = NodeId{destination}}}};
}

// Seconds until the first is done.
int seconds_of(Transfers& transfers, const std::vector<std::uint32_t>& use) {
  int passed = 0;
  do {
    ++passed;
  } while (transfers.pass(seconds{1}, use).empty());
  return passed;
}

TEST(Transfers, ASmallMoveTakesItsFixedTime) {
  Transfers transfers;
  transfers.begin(between(1, 2), 1'000, 1'000);
  EXPECT_EQ(transfers.out_of(NodeId{1}), 1U);
  EXPECT_EQ(transfers.into(NodeId{2}), 1U);
  EXPECT_EQ(seconds_of(transfers, kIdle), 1);
  EXPECT_TRUE(transfers.under_way().empty());
}

TEST(Transfers, AScanTakesHalfOfAnIdleNodesTime) {
  Transfers transfers;
  transfers.begin(between(1, 2), 2'000'000, 0);
  EXPECT_EQ(Transfers::scan_time(transfers.under_way().front(), seconds{1}, kIdle),
            milliseconds{500});
  EXPECT_EQ(seconds_of(transfers, kIdle), 5);  // 4 s of scan, then the commit
}

TEST(Transfers, AScanTakesWhatABusyNodeHasLeft) {
  Transfers transfers;
  transfers.begin(between(1, 2), 2'000'000, 0);
  EXPECT_EQ(seconds_of(transfers, {800'000, 0}), 11);
}

TEST(Transfers, MovesUnderWayShareTheBandwidth) {
  Transfers transfers;
  transfers.begin(between(1, 2), 0, kSecondOfBytes);
  transfers.begin(between(3, 4), 0, 3 * kSecondOfBytes);
  EXPECT_EQ(seconds_of(transfers, kIdle), 3);  // 2 s for half of the rate
  EXPECT_EQ(seconds_of(transfers, kIdle), 2);  // 1.5 of 3 were left, then all of the rate
}

TEST(Transfers, AbortEndsWhatANodeTakesPartIn) {
  Transfers transfers;
  transfers.begin(between(1, 2), 0, kSecondOfBytes);
  transfers.begin(between(3, 4), 0, kSecondOfBytes);
  const auto aborted = transfers.abort(NodeId{2});
  ASSERT_EQ(aborted.size(), 1U);
  EXPECT_EQ(aborted.front().id, MoveId{1});
  EXPECT_EQ(transfers.under_way().size(), 1U);
}

}  // namespace
}  // namespace cleave::rehearse
