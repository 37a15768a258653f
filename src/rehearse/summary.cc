#include "rehearse/summary.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::rehearse {
namespace {

constexpr double kPpmOfOne = 1e6;
constexpr seconds kLastMinute{60};

bool uneven(const Course::Point& point) { return point.peak_ppm > target_ppm(point.bound_ppm); }

// The points that the final numbers are taken from.
std::vector<Course::Point> last_points(const Course& course) {
  const seconds end = course.points.back().at;
  const seconds from = course.rests ? std::max(end - kLastMinute, end / 2) : end / 2;
  std::vector<Course::Point> points;
  for (const Course::Point& each : course.points) {
    if (each.at >= from) points.push_back(each);
  }
  return points;
}

double over(const Course& course, std::uint32_t Course::Point::* of) {
  double sum = 0;
  double most = 0;
  const std::vector<Course::Point> points = last_points(course);
  for (const Course::Point& each : points) {
    sum += each.*of / kPpmOfOne;
    most = std::max(most, each.*of / kPpmOfOne);
  }
  return course.rests ? most : sum / static_cast<double>(points.size());
}

std::optional<std::uint64_t> detected(const Record& record, const Course& course) {
  const auto first = std::ranges::find_if(course.points, uneven);
  if (first == course.points.end()) return std::nullopt;
  for (const RecordedMove& each : record.moves) {
    if (each.began >= first->at)
      return static_cast<std::uint64_t>((each.began - first->at).count());
  }
  return std::nullopt;
}

std::optional<std::uint64_t> rested(const std::vector<Course::Point>& points) {
  const auto first = std::ranges::find_if(points, uneven);
  if (first == points.end() || uneven(points.back())) return std::nullopt;
  const auto last = std::ranges::find_if(points.rbegin(), points.rend(), uneven);
  return static_cast<std::uint64_t>((last.base()->at - first->at).count());
}

// The longest time above the target within one turn; nullopt: also at the end of one, or never.
std::optional<std::uint64_t> recovered(const Course& course) {
  std::optional<std::uint64_t> longest;
  auto point = course.points.begin();
  for (std::size_t at = 0; at < course.turns.size(); ++at) {
    const bool is_last = at + 1 == course.turns.size();
    const auto end = is_last ? course.points.end()
                             : std::ranges::find_if(course.points, [&](const Course::Point& each) {
                                 return each.at >= course.turns[at + 1].at;
                               });
    const auto high = std::find_if(point, end, uneven);
    point = end;
    if (high == end) continue;
    const auto good = std::find_if_not(high, end, uneven);
    if (good == end) return std::nullopt;
    const auto took = static_cast<std::uint64_t>((good->at - high->at).count());
    longest = std::max(longest.value_or(0), took);
  }
  return longest;
}

double load_ratio(const Record& record, const Least& least) {
  double moved = 0;
  for (const RecordedMove& each : record.moves) {
    if (each.committed) moved += static_cast<double>(each.load);
  }
  if (moved == 0) return 0;
  std::uint64_t mean = 0;
  for (const std::uint64_t load : record.moments.front().node_load) mean += load;
  const double thousandth =
      static_cast<double>(mean) / static_cast<double>(record.nodes.size()) / 1'000;
  return moved / std::max(static_cast<double>(least.load), thousandth + 1);
}

Least least_of(const Course& course) {
  Least least;
  for (const Course::Turn& each : course.turns) least += each.least;
  return least;
}

std::optional<std::uint64_t> converged(const Course& course) {
  return course.rests ? rested(course.points) : recovered(course);
}

MemorySummary summarise_memory(const Record& record, const Course& course) {
  MemorySummary memory{.peak_over_mean_start = course.points.front().peak_ppm / kPpmOfOne,
                       .peak_over_mean = over(course, &Course::Point::peak_ppm),
                       .lower_bound = over(course, &Course::Point::bound_ppm),
                       .bytes_moved_bound = least_of(course).load,
                       .seconds_to_converge = converged(course)};
  for (const RecordedMove& each : record.moves) {
    if (each.committed) memory.bytes_moved += each.bytes;
  }
  return memory;
}

}  // namespace

Summary summarise(const Record& record, const Course& course, const Course& memory) {
  CHECK(!course.points.empty() && !record.moments.empty());
  const Least least = least_of(course);
  Summary summary{.peak_over_mean_start = course.points.front().peak_ppm / kPpmOfOne,
                  .peak_over_mean = over(course, &Course::Point::peak_ppm),
                  .lower_bound = over(course, &Course::Point::bound_ppm),
                  .load_moved_over_bound = load_ratio(record, least),
                  .keys_moved_bound = std::max(least.keys, least_of(memory).keys),
                  .cuts = course.cuts,
                  .merges = course.merges,
                  .oscillations = course.oscillations,
                  .ranges = course.ranges,
                  .seconds_to_detect = detected(record, course)};
  for (const RecordedMove& each : record.moves) {
    if (!each.committed) continue;
    ++summary.moves;
    summary.keys_moved += each.keys;
  }
  summary.seconds_to_converge = converged(course);
  if (!memory.points.empty()) summary.memory = summarise_memory(record, memory);
  return summary;
}

}  // namespace cleave::rehearse
