// The ring of the two teaching programs that the demonstrations start from, bit for bit: signed
// 32-bit points in a sorted map, String.hashCode for keys, first point at or above, else the first.
//
// Plain values. Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cleave::rehearse {

// Java's String.hashCode: over UTF-16 units, h = 31 h + unit, wrapping at 32 bit.
// Requires: well-formed UTF-8.
std::int32_t java_hash(std::string_view text);

// The hash of the auto-split program: the sign bit is cleared.
std::int32_t masked_hash(std::string_view text);

// The hash of the churn program: Math.abs, which leaves -2^31 as it is.
std::int32_t absolute_hash(std::string_view text);

class NaiveRing {
 public:
  // A second point at the same place takes it over, as a map's put does.
  void put(std::int32_t point, std::string node) { points_[point] = std::move(node); }

  // Whoever holds the place by then, as a map's remove does.
  void remove(std::int32_t point) { points_.erase(point); }

  // Requires: a point.
  const std::string& owner(std::int32_t hash) const;

  // The node of the smallest point. Requires: a point.
  const std::string& first() const { return points_.begin()->second; }

 private:
  std::map<std::int32_t, std::string> points_;
};

}  // namespace cleave::rehearse
