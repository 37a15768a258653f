#include "ring/schemes/point_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace cleave::ring {
namespace {

// Values like hashes, of few bits, crowded at a place, or few different ones; or all of it at once.
std::uint64_t random_value(Rng& rng, std::uint64_t crowd) {
  switch (rng.below(4)) {
    case 0: return rng.next();
    case 1: return rng.next() >> 32U;
    case 2: return crowd + rng.below(1'000);
    default: return rng.below(3);
  }
}

std::vector<CirclePoint> random_points(Rng& rng) {
  std::vector<CirclePoint> points(rng.below(rng.chance(1, 10) ? 20'000 : 300));
  const std::uint64_t crowd = rng.next();
  const bool hashes = rng.chance(1, 2);
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    points[i] = {hashes ? rng.next() : random_value(rng, crowd), i};
  }
  return points;
}

TEST(PointSort, IsAStableSort) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<CirclePoint> points = random_points(rng);
    std::vector<CirclePoint> expected = points;
    std::ranges::stable_sort(expected, {}, &CirclePoint::value);
    sort_points(points);
    const auto same = [](const CirclePoint& left, const CirclePoint& right) {
      return left.value == right.value && left.node == right.node;
    };
    ASSERT_TRUE(std::ranges::equal(points, expected, same));
  }
}

}  // namespace
}  // namespace cleave::ring
