#include "sim/world/world.h"

#include <gtest/gtest.h>

#include "sim/world/in_child.h"
#include "sim/world/mutants.h"

namespace cleave::sim {
namespace {

std::string all_of(const Report& report) {
  std::string text = to_line(report);
  for (const std::string& violation : report.violations) text += "\n" + violation;
  return text;
}

// A calm world whose clocks do not jump.
constexpr std::uint64_t kStillClocks = 3 * kFlavours;

// One world of each flavour; `cleave-sim` runs many more.
TEST(World, KeepsItsPromisesInEveryFlavour) {
  for (std::uint64_t seed = kFlavours; seed < 2 * kFlavours; ++seed) {
    const Report report = World(seed, {}, nullptr).run();
    EXPECT_TRUE(report.violations.empty()) << all_of(report);
    EXPECT_GT(report.writes_acknowledged, 200U) << to_line(report);
    EXPECT_GE(report.virtual_seconds, 60U);
    EXPECT_GE(report.routers, 3U);
    EXPECT_GE(report.committed, 3U);
  }
}

TEST(World, SameSeedSameTrace) {
  const Report first = World(19, {}, nullptr).run();
  const Report again = World(19, {}, nullptr).run();
  EXPECT_EQ(first.trace_hash, again.trace_hash);
  EXPECT_EQ(to_line(first), to_line(again));
  EXPECT_NE(first.trace_hash, World(29, {}, nullptr).run().trace_hash);
}

TEST(World, CalmWorldsMoveMuch) {
  const Report report = World(kStillClocks, {}, nullptr).run();
  EXPECT_GT(report.committed, 6U) << to_line(report);
  EXPECT_EQ(report.leftovers, 0U) << to_line(report);
}

// Where every router is asked and told, but only the leader writes: COPYING, copies entered,
// FENCED, committed, and of the cleaning: begun, off.
TEST(World, AHundredRoutersCostTheCoordinatorSixWritesAMove) {
  Profile profile = make_profile(kStillClocks);
  profile.spares_coordinator = false;  // somebody leads before all have joined
  profile.balancing = {};
  profile.workload.demand = {};
  profile.routers = 100;
  profile.workers = 1;
  profile.lease = milliseconds{3'000};
  profile.active = milliseconds{6'000};
  profile.rhythm = {.burst = seconds{6}, .period = seconds{6}};
  profile.move_interval_max = milliseconds{600};
  profile.limits = Limits{};
  profile.workload.clients = 4;
  profile.workload.rhythm = profile.rhythm;
  profile.workload.pause_max = milliseconds{40};
  const Report report = World(kStillClocks, profile, {}, nullptr).run();
  EXPECT_TRUE(report.violations.empty()) << all_of(report);
  EXPECT_GE(report.committed, 3U) << to_line(report);
  const std::uint64_t writes_max = 6 * (report.committed + report.aborted);
  EXPECT_LE(report.coordinator_writes, writes_max) << to_line(report);
}

// A checker that no broken rule can fail is none; `cleave-sim --mutants` tries all of them.
TEST(World, NoticesBrokenRules) {
  for (const char* name :
       {"without_bound_of_cuts", "enter_late", "no_last_copy", "commit_without_acks"}) {
    const Mutant* mutant = find_mutant(name);
    ASSERT_NE(mutant, nullptr);
    const ChildSaid caught = in_child([&] {
      bool seen = false;
      for (std::uint64_t i = 1; i <= 20 && !seen; ++i) {
        const std::uint64_t seed = i * kFlavours + static_cast<std::uint64_t>(mutant->met_in);
        World world(seed, mutant->profile(seed), mutant->mutations(), nullptr);
        seen = !world.run().violations.empty();
      }
      return seen;
    });
    EXPECT_NE(caught, ChildSaid::kNo) << name;
  }
}

}  // namespace
}  // namespace cleave::sim
