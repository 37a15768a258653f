#include "control/observe/copy_counts.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

constexpr NodeId kSource{1};
constexpr NodeId kDestination{2};
constexpr MoveId kMove{7};

ring::Document with_leftover(ring::LeftoverState state) {
  ring::Document document;
  document.leftovers.push_back(
      {.move = kMove, .node = kSource, .ranges = {}, .since = {}, .state = state});
  return document;
}

TEST(CopyCounts, FollowAMoveFromItsDestinationToItsSource) {
  CopyCounts counts;
  const auto count = counts.begin(kDestination);
  count->move = kMove;
  count->keys = 30;
  EXPECT_EQ(counts.at(kDestination), 30U);
  EXPECT_EQ(counts.without_copies(kDestination, 100), 70U);
  counts.committed(*count, kSource);
  EXPECT_EQ(counts.at(kDestination), 0U);
  EXPECT_EQ(counts.at(kSource), 30U);
  EXPECT_EQ(counts.commits(), 1U);
  counts.of(kMove)->keys -= 30;
  EXPECT_EQ(counts.at(kSource), 0U);
}

// What is kept may be there for days, and change unseen.
TEST(CopyCounts, ForgetWhatIsCleanedAndWhatIsKept) {
  for (const bool kept : {false, true}) {
    CopyCounts counts;
    counts.begin(kSource)->move = kMove;
    counts.follow(with_leftover(ring::LeftoverState::kOpen));
    EXPECT_NE(counts.of(kMove), nullptr);
    counts.follow(kept ? with_leftover(ring::LeftoverState::kKept) : ring::Document{});
    EXPECT_EQ(counts.of(kMove), nullptr);
  }
}

TEST(CopyCounts, AMoveThatNeverBeganIsForgottenWithItsDriver) {
  CopyCounts counts;
  auto count = counts.begin(kDestination);
  counts.follow({});
  count->keys = 1;
  EXPECT_EQ(counts.at(kDestination), 1U);
  count.reset();
  counts.follow({});
  EXPECT_EQ(counts.at(kDestination), 0U);
}

// After a FLUSHALL there are fewer keys than copies were made: the keys that come later count.
TEST(CopyCounts, AFlushTakesCopiesToo) {
  CopyCounts counts;
  const auto count = counts.begin(kDestination);
  count->keys = 1'000;
  EXPECT_EQ(counts.without_copies(kDestination, 0), 0U);
  EXPECT_EQ(counts.without_copies(kDestination, 5), 5U);
  count->keys = -3;  // a page that was cleaned held more
  EXPECT_EQ(counts.without_copies(kDestination, 5), 5U);
}

}  // namespace
}  // namespace cleave::control
