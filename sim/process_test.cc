#include "sim/process.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "sim/network.h"
#include "sim/sim_loop.h"

namespace cleave::sim {
namespace {

TEST(Process, ATimerFiresWhenItsOwnClockSaysSoAndNeverEarly) {
  for (const std::int64_t rate : {-10'000, -1, 0, 7, 10'000}) {
    Scheduler scheduler(1);
    Network network(scheduler, {});
    Process& process = network.add_process("10.0.0.9");
    process.set_rate(rate);
    SimLoop loop(network, process);
    Rng rng(9);
    for (int i = 0; i < 1'000; ++i) {
      const nanoseconds delay(rng.below(100'000'000));
      const Instant asked = loop.now();
      const Instant world = scheduler.now();
      bool fired = false;
      loop.after(delay, [&] { fired = true; });
      while (!fired) scheduler.step();
      EXPECT_GE(loop.now() - asked, delay);
      EXPECT_LE(loop.now() - asked, delay + nanoseconds{2});
      const nanoseconds took = scheduler.now() - world;
      EXPECT_NEAR(static_cast<double>(took.count()), static_cast<double>(delay.count()),
                  static_cast<double>(delay.count()) / 90 + 3);
    }
  }
}

TEST(Process, ItsWallClockMayBeWrong) {
  Scheduler scheduler(1);
  Network network(scheduler, {});
  Process& process = network.add_process("10.0.0.9");
  const SimLoop loop(network, process);
  process.set_wall_skew(milliseconds{-250});
  EXPECT_EQ(loop.wall_now().value(), scheduler.wall_now().value() - 250);
  EXPECT_EQ(loop.now(), scheduler.now());
}

}  // namespace
}  // namespace cleave::sim
