// The rates of one range over time: what the ledger keeps for each entry of the view.
//
// Integers only. Threads: one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/clock.h"
#include "heat/picture.h"

namespace cleave::heat {

// Fractions in 1 / 2^32; kWhole = everything.
using Fraction = std::uint64_t;
inline constexpr Fraction kWhole = std::uint64_t{1} << 32U;

// value x fraction, rounded down. Requires: fraction <= kWhole.
std::uint64_t part_of(std::uint64_t value, Fraction fraction);

// 2 ^ -(elapsed / half_life). Requires: half_life > 0, elapsed >= 0. Error below 1 / 2^16.
Fraction halved_for(nanoseconds elapsed, nanoseconds half_life);

// Amounts, or amounts per second.
struct Amounts {
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
  std::uint64_t load = 0;

  Amounts& operator+=(const Amounts& more) {
    requests += more.requests;
    writes += more.writes;
    load += more.load;
    return *this;
  }
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

Amounts part_of(const Amounts& amounts, Fraction fraction);

class Series {
 public:
  static constexpr std::size_t kTicks = 5;    // of the mean: 10 s at a tick of 2 s
  static constexpr std::size_t kWindows = 6;  // of the peak
  static constexpr seconds kWindow{100};      // 6 x 100 s = 10 minutes
  static constexpr seconds kSlowHalfLife{30};

  // The rate since the tick before, which is `elapsed` ago. The slow mean is a plain mean until it
  // has seen as much as its half-life, so that it starts without a memory of zero.
  void push(const Amounts& rate, nanoseconds elapsed);

  // Older ticks than the newest `count` are not in the mean any more: the load has changed since.
  void keep_ticks(std::uint32_t count) { valid_ = std::min(valid_, count); }

  // Load of the tick `ago` ticks before the newest; 0 where there is none. Requires: ago < kTicks.
  std::uint64_t tick_load(std::size_t ago) const {
    CHECK(ago < kTicks);
    return ticks_[ago].load;
  }

  // Begins a new window of the peak; the ledger calls it each kWindow.
  void next_window();

  // A part of the range, and two parts together: history goes with the tokens when the view
  // changes.
  Series part(Fraction fraction) const;
  Series& operator+=(const Series& more);

  Load load() const;
  std::uint64_t requests() const { return mean().requests; }
  std::uint64_t writes() const { return mean().writes; }

 private:
  Amounts mean() const;

  std::array<Amounts, kTicks> ticks_{};  // newest first
  std::uint32_t valid_ = 0;              // of them
  std::uint32_t pushes_ = 0;
  std::uint64_t slow_ = 0;
  std::array<std::uint64_t, kWindows> peaks_{};  // newest first
};

}  // namespace cleave::heat
