// Whether counts differ by more than chance: for reports.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>

namespace cleave::rehearse {

// Pearson's test of counts against expected numbers (Philosophical Magazine 50, 1900).
struct ChiSquare {
  double value = 0;
  std::uint64_t degrees = 0;  // of freedom: one less than there are numbers
  // How far the value is above the mean of its distribution, in standard deviations: below 3 the
  // differences are those of chance.
  double sigma = 0;
};

// For reports. Requires: as many counts as expected numbers, all of those above 0.
ChiSquare chi_square(std::span<const std::uint64_t> counts, std::span<const double> expected);

}  // namespace cleave::rehearse
