// One point of the stored heat: what a picture (heat/picture.h) comes to for people who look back.
//
// Tokens are shown in strips of equal width, whatever the ranges were then, so that points of
// different rings lie on one axis.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/picture.h"

namespace cleave::history {

inline constexpr std::uint32_t kStrips = 64;  // strip i holds the tokens whose top 6 bits are i

// A node or a strip, by the number of the one or the other.
struct HeatValue {
  std::uint32_t id = 0;
  std::uint64_t load = 0;      // nanoseconds of server time a second (heat/picture.h)
  std::uint64_t requests = 0;  // a second
  std::uint64_t writes = 0;

  friend bool operator==(const HeatValue&, const HeatValue&) = default;
};

// Means over `covers`, from `at` on. What had no load is left out.
struct HeatPoint {
  UnixMillis at = {};
  milliseconds covers{0};
  std::vector<HeatValue> nodes = {};   // sorted by id
  std::vector<HeatValue> strips = {};  // sorted by id

  friend bool operator==(const HeatPoint&, const HeatPoint&) = default;
};

// The 10 s means of the picture. A range over several strips is shared out by its sampled tokens,
// or by width where it has none.
HeatPoint point_of(const heat::Picture& picture, UnixMillis at);

}  // namespace cleave::history
