// The baselines in a small closed loop (balance/closed_pool_testing.h): that each does what its
// system is known for, also where that is a weakness.
#include "rehearse/policies/baselines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "balance/closed_pool_testing.h"
#include "ring/width.h"

namespace cleave::rehearse {
namespace {

using balance::ClosedPool;

constexpr std::uint32_t kKeys = 20'000;

std::vector<std::uint64_t> zipf(double alpha) {
  std::vector<std::uint64_t> weights;
  for (std::uint32_t rank = 1; rank <= kKeys; ++rank) {
    weights.push_back(
        static_cast<std::uint64_t>(std::pow(static_cast<double>(rank), -alpha) * 1e12));
  }
  return weights;
}

// What a policy did in some ticks.
struct Did {
  std::size_t cuts = 0;
  std::size_t moves = 0;
  int first_move = 0;  // tick; 0: never
};

void carry_out(ClosedPool& pool, const Proposal& proposal) {
  for (const ring::Cut& each : proposal.cuts) {
    if (const auto next = ring::lay_cut(pool.document(), each)) pool.adopt(*next);
  }
  for (const balance::PlannedMove& each : proposal.plan.moves) pool.carry_out(each);
  for (const ring::TokenRange& each : proposal.plan.merges) {
    if (const auto next = ring::merge_cuts(pool.document(), each, pool.wall())) {
      pool.adopt(*next);
    }
  }
}

Did run(ClosedPool& pool, Policy& policy, int ticks) {
  Did did;
  for (int tick = 1; tick <= ticks; ++tick) {
    pool.observe();
    const Proposal proposal = policy.decide(pool.input());
    if (did.moves == 0 && !proposal.plan.moves.empty()) did.first_move = tick;
    did.cuts += proposal.cuts.size();
    did.moves += proposal.plan.moves.size();
    carry_out(pool, proposal);
  }
  return did;
}

struct Skewed : ClosedPool {
  Skewed(double alpha, std::uint64_t seed, std::uint32_t nodes = 16)
      : ClosedPool(
            {.nodes = nodes, .requests_per_second = 5'000, .weight_ns = 800'000, .seed = seed}) {
    skew(zipf(alpha), shuffled());
  }
};

using MakePolicy = std::unique_ptr<Policy> (*)(std::uint64_t);
constexpr MakePolicy kBaselines[] = {make_halve_policy, make_cockroach_policy, make_pd_policy,
                                     make_dicer_policy};

TEST(Baselines, EachHasItsName) {
  std::vector<std::string> names;
  for (const MakePolicy make : kBaselines) names.emplace_back(make(1)->name());
  EXPECT_EQ(names, (std::vector<std::string>{"halve", "cockroach", "pd", "dicer"}));
}

TEST(Baselines, EqualInputsHaveEqualAnswers) {
  for (const MakePolicy make : kBaselines) {
    Skewed first(0.99, 3);
    Skewed second(0.99, 3);
    run(first, *make(7), 40);
    run(second, *make(7), 40);
    EXPECT_EQ(first.document(), second.document());
  }
}

TEST(Baselines, NoneMovesUniformLoad) {
  for (const MakePolicy make : kBaselines) {
    ClosedPool pool({.nodes = 4, .requests_per_second = 5'000, .weight_ns = 80'000, .seed = 5});
    pool.uniform();
    const auto policy = make(1);
    EXPECT_EQ(run(pool, *policy, 60).moves, 0U) << policy->name();
  }
}

// PD's and CockroachDB's thresholds are requests a second, so that at some rates they do little.
TEST(Baselines, EachWorksOnSkewedLoadAndNoneMakesItWorse) {
  for (const MakePolicy make : kBaselines) {
    Skewed pool(0.99, 2);
    const std::uint32_t before = pool.peak_ppm();
    const auto policy = make(1);
    EXPECT_GT(run(pool, *policy, 150).moves, 0U) << policy->name();
    EXPECT_LE(pool.peak_ppm(), before) << policy->name();
  }
}

TEST(Baselines, EachEmptiesANodeThatLeaves) {
  for (const MakePolicy make : kBaselines) {
    Skewed pool(0.8, 4, 4);
    run(pool, *make(1), 5);
    const auto draining = ring::drain_node(pool.document(), NodeId{2}, pool.wall());
    ASSERT_TRUE(draining.has_value());
    pool.adopt(*draining);
    run(pool, *make(1), 20);
    EXPECT_TRUE(pool.view()->owned_by(NodeId{2}).empty());
  }
}

// The median of the seeds' final peaks over their bounds, in millionths.
std::uint64_t final_over_bound(MakePolicy make) {
  std::vector<std::uint64_t> finals;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Skewed pool(0.99, seed);
    if (make == nullptr) {
      for (int tick = 0; tick < 60; ++tick) pool.tick();
    } else {
      run(pool, *make(seed), 60);
    }
    finals.push_back(pool.peak_ppm() * 1'000'000ULL / pool.bound_ppm());
  }
  std::ranges::sort(finals);
  return finals[1];
}

TEST(HalvePolicy, SticksAboveTheBoundWhereCleaveDoesNot) {
  EXPECT_LE(final_over_bound(nullptr), 1'100'000U);
  EXPECT_GT(final_over_bound(make_halve_policy), 1'150'000U);
}

TEST(CockroachPolicy, LeavesItsBandAlone) {
  ClosedPool pool({.nodes = 4, .requests_per_second = 5'000, .weight_ns = 160'000, .seed = 8});
  pool.skew(zipf(0.5), pool.shuffled());
  const auto policy = make_cockroach_policy(1);
  run(pool, *policy, 150);
  // Whoever is above goes no further than its band, and not to the mean.
  EXPECT_LE(pool.peak_ppm(), 1'150'000U);
  EXPECT_EQ(run(pool, *policy, 60).moves, 0U);
}

TEST(CockroachPolicy, CutsARangeThatKeepsHalfACoreBusyForTenSeconds) {
  ClosedPool pool({.nodes = 4, .requests_per_second = 3'000, .weight_ns = 300'000, .seed = 9});
  // Forty equal keys of one arc are all there is: 900 ms/s.
  std::vector<std::uint32_t> order = pool.shuffled();
  const auto widest = std::ranges::max_element(
      pool.view()->entries(), {}, [](const ring::Entry& each) { return ring::width(each.range); });
  std::ranges::stable_partition(order, [&](std::uint32_t key) {
    return widest->range.contains(ring::vnode_token("key:" + std::to_string(key)));
  });
  pool.skew(std::vector<std::uint64_t>(kKeys, 0), order);
  order.resize(40);
  pool.skew(std::vector<std::uint64_t>(40, 1'000'000), order);
  const auto policy = make_cockroach_policy(1);
  EXPECT_EQ(run(pool, *policy, 5).cuts, 0U);
  EXPECT_EQ(run(pool, *policy, 2).cuts, 1U);
  // Both halves are below half a core.
  EXPECT_EQ(run(pool, *policy, 40).cuts, 0U);
}

TEST(PdPolicy, WaitsForItsHotDegree) {
  ClosedPool pool({.nodes = 4, .requests_per_second = 8'000, .weight_ns = 100'000, .seed = 6});
  pool.skew(zipf(0.99), pool.hot_on(NodeId{1}, 100));
  const auto policy = make_pd_policy(1);
  const Did did = run(pool, *policy, 60);
  // Three reports of ten seconds: not before second 20.
  EXPECT_GT(did.first_move, 10);
  EXPECT_GT(did.moves, 0U);
}

TEST(DicerPolicy, AssignsOnceAMinute) {
  Skewed pool(0.99, 2);
  const auto policy = make_dicer_policy(1);
  pool.observe();
  const Proposal first = policy->decide(pool.input());
  EXPECT_FALSE(first.plan.moves.empty());
  // Nothing is carried out, and what the assignment asked for is not asked for again.
  for (int tick = 0; tick < 25; ++tick) {
    pool.observe();
    const Proposal next = policy->decide(pool.input());
    for (const balance::PlannedMove& each : next.plan.moves) {
      const auto same = [&](const balance::PlannedMove& move) {
        return move.ranges == each.ranges;
      };
      EXPECT_TRUE(std::ranges::none_of(first.plan.moves, same)) << tick;
    }
  }
  for (int tick = 0; tick < 6; ++tick) pool.observe();
  EXPECT_FALSE(policy->decide(pool.input()).plan.moves.empty());
}

}  // namespace
}  // namespace cleave::rehearse
