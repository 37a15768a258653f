#include "control/plan/move_outlook.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

constexpr UnixMillis kStarted{10'000};

MoveProgress copied(std::uint64_t keys) {
  return {.started = kStarted, .keys_planned = 1'000, .keys_copied = keys};
}

TEST(MoveOutlook, GoesOnAtThePaceSoFar) {
  EXPECT_EQ(done_at(copied(250), UnixMillis{14'000}), UnixMillis{26'000});
}

TEST(MoveOutlook, IsUnknownAtFirstAndBeyondThePlan) {
  EXPECT_EQ(done_at(copied(0), UnixMillis{14'000}), std::nullopt);
  EXPECT_EQ(done_at(copied(9), UnixMillis{14'000}), std::nullopt);
  EXPECT_EQ(done_at(copied(1'000), UnixMillis{14'000}), std::nullopt);
}

TEST(MoveOutlook, AClockThatWentBackTellsNothing) {
  EXPECT_EQ(done_at(copied(250), UnixMillis{9'000}), std::nullopt);
}

}  // namespace
}  // namespace cleave::control
