#include "ring/schemes/circle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "ring/schemes/point_sort.h"

namespace cleave::ring {
namespace {

constexpr std::uint64_t kValues32 = std::uint64_t{1} << 32U;

std::vector<Arc> listed(const ArcTable& table) {
  std::vector<Arc> arcs;
  for (std::size_t i = 0; i < table.firsts.size(); ++i) {
    arcs.push_back(arc_at(table.firsts, table.owners, i));
  }
  return arcs;
}

std::vector<Arc> arcs_of(std::vector<CirclePoint> points, const CircleRules& rules) {
  sort_points(points);
  return listed(circle_arcs(points, rules));
}

NodeId owner(const std::vector<Arc>& arcs, Token token) {
  const auto arc =
      std::ranges::find_if(arcs, [&](const Arc& each) { return each.range.contains(token); });
  return arc == arcs.end() ? NodeId{} : arc->node;
}

// The owner by the words of CircleRules, point by point.
std::uint32_t naive_upward(const std::vector<CirclePoint>& points, std::uint64_t value,
                           const CircleRules& rules) {
  const CirclePoint* best = nullptr;
  const auto above = [&](const CirclePoint& point) {
    return rules.pick == CircleRules::Pick::kAbove ? point.value > value : point.value >= value;
  };
  for (const CirclePoint& point : points) {
    // Points that are above come before those that are only reached by wrapping.
    const auto order = [&](const CirclePoint& each) { return std::pair(!above(each), each.value); };
    const bool replaces = best == nullptr || order(point) < order(*best) ||
                          (order(point) == order(*best) && rules.tie == CircleRules::Tie::kLastPut);
    if (replaces) best = &point;
  }
  return best->node;
}

std::uint32_t naive_nearest(const std::vector<CirclePoint>& points, std::uint64_t value) {
  const CirclePoint* best = nullptr;
  std::uint64_t best_distance = 0;
  for (const CirclePoint& point : points) {
    for (const bool below : {true, false}) {
      const std::uint64_t distance =
          (below ? value - point.value : point.value - value) % kValues32;
      if (below && distance == 0) continue;  // at the value: counts as the one above
      const bool nearer =
          best == nullptr || distance < best_distance || (distance == best_distance && below);
      if (!nearer) continue;
      best = &point;
      best_distance = distance;
    }
  }
  return best->node;
}

std::vector<CirclePoint> random_points(Rng& rng, std::uint64_t values) {
  std::vector<CirclePoint> points(1 + rng.below(12));
  for (CirclePoint& point : points) {
    // Few values make equal points; both ends of the circle are among them.
    const std::uint64_t value = rng.below(values);
    point.value = rng.chance(1, 3) ? value : (kValues32 - 1 - value);
    point.node = static_cast<std::uint32_t>(rng.below(4));
  }
  return points;
}

void expect_cover(const std::vector<Arc>& arcs) {
  std::uint64_t next = 0;
  NodeId previous;
  for (const Arc& arc : arcs) {
    ASSERT_EQ(arc.range.first.value(), next);
    ASSERT_LE(arc.range.first, arc.range.last);
    ASSERT_NE(arc.node, previous);
    previous = arc.node;
    next = arc.range.last.value() + 1;
  }
  ASSERT_EQ(arcs.back().range.last, kLastToken);
}

// Values at, below and above every point, and any.
std::vector<std::uint64_t> probes(const std::vector<CirclePoint>& points, Rng& rng) {
  std::vector<std::uint64_t> values = {0, kValues32 - 1, kValues32 / 2};
  for (const CirclePoint& point : points) {
    for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, kValues32 - 1}) {
      values.push_back((point.value + shift) % kValues32);
    }
    const CirclePoint& other = points[rng.below(points.size())];
    values.push_back((point.value + (other.value - point.value) % kValues32 / 2) % kValues32);
    values.push_back(rng.below(kValues32));
  }
  return values;
}

TEST(Circle, ArcsEqualANaiveSearch) {
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::vector<CirclePoint> points = random_points(rng, rng.chance(1, 2) ? 5 : kValues32);
    const CircleRules rules{
        .width = CircleRules::Width::k32,
        .tie = rng.chance(1, 2) ? CircleRules::Tie::kFirstPut : CircleRules::Tie::kLastPut,
        .pick = rng.chance(1, 2) ? CircleRules::Pick::kAtOrAbove : CircleRules::Pick::kAbove};
    const std::vector<Arc> arcs = arcs_of(points, rules);
    expect_cover(arcs);
    for (const std::uint64_t value : probes(points, rng)) {
      ASSERT_EQ(owner(arcs, token_of_32(static_cast<std::uint32_t>(value))),
                NodeId{naive_upward(points, value, rules) + 1})
          << value;
    }
  }
}

TEST(Circle, NearestArcsEqualANaiveSearch) {
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::vector<CirclePoint> points = random_points(rng, rng.chance(1, 2) ? 5 : kValues32);
    const std::vector<Arc> arcs = arcs_of(points, {.pick = CircleRules::Pick::kNearest});
    expect_cover(arcs);
    for (const std::uint64_t value : probes(points, rng)) {
      ASSERT_EQ(owner(arcs, token_of_32(static_cast<std::uint32_t>(value))),
                NodeId{naive_nearest(points, value) + 1})
          << value;
    }
  }
}

TEST(Circle, HasNoArcsWithoutPoints) { EXPECT_TRUE(circle_arcs({}, {}).owners.empty()); }

TEST(Circle, SegmentsHoldTheTokensOfTheirEntries) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<std::uint32_t> table(1 + rng.below(300));
    for (std::uint32_t& entry : table) entry = static_cast<std::uint32_t>(rng.below(4));
    const std::vector<Arc> arcs = listed(table_arcs(table));
    expect_cover(arcs);
    for (int probe = 0; probe < 20; ++probe) {
      const std::size_t entry = rng.below(table.size());
      const NodeId expected{table[entry] + 1};
      ASSERT_EQ(owner(arcs, segment_token({entry, table.size()})), expected);
      ASSERT_EQ(owner(arcs, segment_token({entry, table.size()}, rng.next())), expected);
      ASSERT_EQ(owner(arcs, segment_token({entry, table.size()}, ~std::uint64_t{0})), expected);
    }
  }
}

}  // namespace
}  // namespace cleave::ring
