#include "control/moves/copy_pace.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::control {
namespace {

constexpr std::uint64_t kMax = 16'000'000;
constexpr std::uint64_t kPart = kMax / CopyPace::kParts;

ServerPace server(milliseconds p99, milliseconds baseline) {
  return {.p99 = p99, .baseline = baseline};
}

const std::vector<ServerPace> kSlow{server(milliseconds{1}, milliseconds{1}),
                                    server(milliseconds{6}, milliseconds{1})};
const std::vector<ServerPace> kQuick{server(milliseconds{1}, milliseconds{1})};

TEST(CopyPace, BeginsAtTheMaximumAndStaysThereWhileAllIsWell) {
  CopyPace pace(kMax);
  EXPECT_EQ(pace.rate(), kMax);
  for (int i = 0; i < 5; ++i) pace.step(kQuick);
  EXPECT_EQ(pace.rate(), kMax);
}

TEST(CopyPace, HalvesWhenAnyServerIsSlowAndClimbsInSteps) {
  CopyPace pace(kMax);
  pace.step(kSlow);
  EXPECT_EQ(pace.rate(), kMax / 2);
  pace.step(kSlow);
  EXPECT_EQ(pace.rate(), kMax / 4);
  pace.step(kQuick);
  EXPECT_EQ(pace.rate(), kMax / 4 + kPart);
  pace.step({});  // no move: it recovers too
  EXPECT_EQ(pace.rate(), kMax / 4 + 2 * kPart);
}

TEST(CopyPace, NeverStandsStill) {
  CopyPace pace(kMax);
  for (int i = 0; i < 50; ++i) pace.step(kSlow);
  EXPECT_EQ(pace.rate(), kPart);
  CopyPace tiny(3);
  for (int i = 0; i < 50; ++i) tiny.step(kSlow);
  EXPECT_EQ(tiny.rate(), 1U);
}

TEST(CopyPace, WhatWasSlowBeforeIsNotTheCopysFault) {
  struct Case {
    ServerPace seen;
    bool slower;
  };
  for (const Case& each : {Case{server(milliseconds{5}, milliseconds{1}), false},
                           Case{server(milliseconds{6}, milliseconds{1}), true},
                           Case{server(milliseconds{6}, milliseconds{0}), true},
                           Case{server(milliseconds{20}, milliseconds{10}), false},
                           Case{server(milliseconds{21}, milliseconds{10}), true}}) {
    CopyPace pace(kMax);
    pace.step({each.seen});
    EXPECT_EQ(pace.rate() < kMax, each.slower) << each.seen.p99.count();
  }
}

TEST(CopyPace, WithoutALimitIsNeverLimited) {
  CopyPace pace(0);
  for (int i = 0; i < 5; ++i) pace.step(kSlow);
  EXPECT_EQ(pace.rate(), 0U);
}

TEST(CopyPace, StaysWithinItsBoundsWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    const std::uint64_t max = 1 + rng.below(std::uint64_t{1} << 40U);
    CopyPace pace(max);
    for (int i = 0; i < 50; ++i) {
      pace.step(rng.chance(1, 3) ? kSlow : kQuick);
      ASSERT_LE(pace.rate(), max) << "seed " << seed;
      ASSERT_GE(pace.rate(), std::max<std::uint64_t>(max / 16, 1)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cleave::control
