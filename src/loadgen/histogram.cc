#include "loadgen/histogram.h"

#include <algorithm>
#include <bit>

#include "base/wide.h"

namespace cleave::loadgen {

// With 64 cells a power: below 128 the value itself; above, the exponent picks the power and the 6
// bits after the leading one the cell in it.
std::size_t Histogram::cell_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kFineBits + 1) return static_cast<std::size_t>(value);
  const unsigned shift = width - kFineBits - 1;
  return static_cast<std::size_t>((std::uint64_t{shift} << kFineBits) + (value >> shift));
}

std::uint64_t Histogram::last_of(std::size_t cell) {
  if (cell < (std::size_t{2} << kFineBits)) return cell;
  const std::size_t shift = (cell >> kFineBits) - 1;
  const std::uint64_t leading = cell - (shift << kFineBits);
  return ((leading + 1) << shift) - 1;
}

void Histogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  constexpr std::uint64_t kValueMax = (std::uint64_t{1} << kValueBits) - 1;
  value = std::min(value, kValueMax);
  cells_[cell_of(value)] += times;
  count_ += times;
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t cell = 0; cell < kCells; ++cell) cells_[cell] += other.cells_[cell];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::quantile(std::uint64_t share_ppm) const {
  if (count_ == 0) return 0;
  constexpr std::uint64_t kWhole = 1'000'000;
  const Wide wanted = (Wide{count_} * std::min(share_ppm, kWhole) + kWhole - 1) / kWhole;
  Wide seen = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    seen += cells_[cell];
    if (seen >= wanted && seen > 0) return std::min(last_of(cell), max_);
  }
  return max_;
}

}  // namespace cleave::loadgen
