// Histogram: counts of durations with a bounded relative error, small enough to have many.
//
//   values 0..127 have a cell each; from there on every power of two is cut into 64 equal cells,
//   so a value read back is at most 1/64 (1.6 %) above the one recorded
//
// Source: the layout of HdrHistogram (Tene), with fixed precision and no growth.
// Threads: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cleave::loadgen {

// About 18 KiB. Unit: whatever the caller records; load records microseconds.
class Histogram {
 public:
  // Values of 2^40 (12 days in microseconds) and above count as the one below it. Cost: about 2 ns.
  void add(std::uint64_t value, std::uint64_t times = 1);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }  // exact
  // The least recorded value (rounded up to its cell's end, never above max) that at least
  // `share_ppm` millionths of the records do not exceed. 0 when nothing is recorded.
  std::uint64_t quantile(std::uint64_t share_ppm) const;

 private:
  static constexpr unsigned kFineBits = 6;  // 64 cells for each power of two
  static constexpr unsigned kValueBits = 40;
  static constexpr std::size_t kCells = (kValueBits - kFineBits + 1) << kFineBits;

  static std::size_t cell_of(std::uint64_t value);
  static std::uint64_t last_of(std::size_t cell);

  std::array<std::uint64_t, kCells> cells_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace cleave::loadgen
