#include "ring/schemes/point_sort.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

// Fewer points are not worth buckets.
constexpr std::size_t kBucketedMin = 64;

// Points of a bucket of evenly spread values: so few that inserting sorts them in a few steps, so
// many that the table of buckets is small beside the points.
constexpr std::size_t kPointsPerBucket = 4;

// More points than this in one bucket are sorted by halves.
constexpr std::size_t kInsertedMax = 24;

// Places are counted in 32 bits.
constexpr std::size_t kPointsMax = 0xFFFFFFFFU;

// How far a value is shifted to get its bucket, and how many buckets there are.
struct Buckets {
  unsigned shift;
  std::size_t count;
};

// The values' width is seen from the values: all bits above the highest one set are left out.
Buckets buckets_for(std::span<const CirclePoint> points) {
  std::uint64_t all = 1;
  for (const CirclePoint& point : points) all |= point.value;
  const auto width = static_cast<unsigned>(std::bit_width(all));
  const auto bits =
      std::min(width, static_cast<unsigned>(std::bit_width(points.size() / kPointsPerBucket)));
  return {.shift = width - bits, .count = std::size_t{1} << bits};
}

void insertion_sort(std::span<CirclePoint> points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CirclePoint point = points[i];
    std::size_t at = i;
    for (; at > 0 && points[at - 1].value > point.value; --at) points[at] = points[at - 1];
    points[at] = point;
  }
}

void sort_bucket(std::span<CirclePoint> points) {
  if (points.size() <= kInsertedMax) {
    insertion_sort(points);
  } else {
    std::ranges::stable_sort(points, {}, &CirclePoint::value);
  }
}

}  // namespace

void sort_points(std::vector<CirclePoint>& points) {
  if (points.size() < kBucketedMin) {
    std::ranges::stable_sort(points, {}, &CirclePoint::value);
    return;
  }
  CHECK(points.size() <= kPointsMax);
  const Buckets buckets = buckets_for(points);
  // First the size of each bucket, then where it begins, then where its next point goes, which
  // ends as where the bucket ends.
  std::vector<std::uint32_t> ends(buckets.count);
  for (const CirclePoint& point : points) ++ends[point.value >> buckets.shift];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends) begin += std::exchange(end, begin);
  std::vector<CirclePoint> sorted(points.size());
  for (const CirclePoint& point : points) sorted[ends[point.value >> buckets.shift]++] = point;
  begin = 0;
  for (const std::uint32_t end : ends) {
    sort_bucket(std::span(sorted).subspan(begin, end - begin));
    begin = end;
  }
  CHECK(begin == points.size());  // every point is in one bucket
  points = std::move(sorted);
}

}  // namespace cleave::ring
