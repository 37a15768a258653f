#include "control/observe/usual_levels.h"

#include <map>

#include "balance/input/trigger.h"
#include "base/check.h"
#include "base/wide.h"

namespace cleave::control {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kHalfHourMs = 1'800'000;

// What one node was seen with, in levels times milliseconds.
struct Seen {
  Wide level_ms = 0;
  std::uint64_t ms = 0;
};

void add(const history::HeatPoint& point, const ring::Document& document,
         std::map<NodeId, Seen>& seen) {
  Wide total = 0;
  std::uint64_t weights = 0;
  for (const history::HeatValue& value : point.nodes) {
    const ring::Node* const node = ring::find_node(document, NodeId{value.id});
    if (node == nullptr) continue;  // it has left since
    total += value.load;
    weights += node->weight;
  }
  if (total == 0 || point.covers <= milliseconds{0}) return;
  CHECK(weights > 0);
  const auto ms = static_cast<std::uint64_t>(point.covers.count());
  for (const history::HeatValue& value : point.nodes) {
    const ring::Node* const node = ring::find_node(document, NodeId{value.id});
    if (node == nullptr) continue;
    const auto fair = static_cast<std::uint64_t>(total * node->weight / weights);
    Seen& of = seen[node->id];
    of.level_ms += Wide{balance::level_ppm(value.load, fair)} * ms;
    of.ms += ms;
  }
}

}  // namespace

std::vector<std::pair<UnixMillis, UnixMillis>> usual_hours(UnixMillis now) {
  std::vector<std::pair<UnixMillis, UnixMillis>> hours;
  for (int day = kUsualDays; day >= 1; --day) {
    const std::int64_t middle = now.value() - day * kDayMs;
    hours.emplace_back(UnixMillis{middle - kHalfHourMs}, UnixMillis{middle + kHalfHourMs});
  }
  return hours;
}

std::vector<balance::UsualLevel> usual_levels(std::span<const history::HeatPoint> points,
                                              const ring::Document& document) {
  std::map<NodeId, Seen> seen;
  for (const history::HeatPoint& point : points) add(point, document, seen);
  std::vector<balance::UsualLevel> levels;
  for (const auto& [node, of] : seen) {
    CHECK(of.ms > 0);
    levels.push_back({.node = node, .ppm = static_cast<std::uint32_t>(of.level_ms / of.ms)});
  }
  return levels;
}

}  // namespace cleave::control
