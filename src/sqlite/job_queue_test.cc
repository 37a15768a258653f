#include "sqlite/job_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace cleave::sqlite {
namespace {

using SteadyClock = std::chrono::steady_clock;

TEST(JobQueue, GivesJobsInTheirOrderAndNotMoreThanItsBound) {
  JobQueue queue(2);
  std::vector<int> ran;
  EXPECT_TRUE(queue.offer([&] { ran.push_back(1); }));
  EXPECT_TRUE(queue.offer([&] { ran.push_back(2); }));
  EXPECT_FALSE(queue.offer([&] { ran.push_back(3); }));
  queue.put([&] { ran.push_back(4); });
  for (int i = 0; i < 3; ++i) (*queue.take({}))();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 4}));
}

TEST(JobQueue, WaitsNoLongerThanAsked) {
  JobQueue queue(1);
  EXPECT_FALSE(queue.take(SteadyClock::now() + std::chrono::milliseconds(5)));
}

TEST(JobQueue, WhatIsThereAtTheEndIsStillGiven) {
  JobQueue queue(1);
  EXPECT_TRUE(queue.offer([] {}));
  queue.end();
  EXPECT_TRUE(queue.ended());
  EXPECT_TRUE(queue.take({}));
  EXPECT_FALSE(queue.take({}));
}

TEST(JobQueue, AfterAStopWhatWaitsDiesWithTheQueue) {
  const auto held = std::make_shared<int>(1);
  {
    JobQueue queue(1);
    EXPECT_TRUE(queue.offer([held] {}));
    queue.stop();
    EXPECT_FALSE(queue.take({}));
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(JobQueue, TheEndWakesWhoeverWaits) {
  JobQueue queue(1);
  std::thread ender([&] { queue.end(); });
  EXPECT_FALSE(queue.take({}));
  ender.join();
}

}  // namespace
}  // namespace cleave::sqlite
