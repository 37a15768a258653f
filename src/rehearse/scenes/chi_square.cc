#include "rehearse/scenes/chi_square.h"

#include <cmath>

#include "base/check.h"

namespace cleave::rehearse {

ChiSquare chi_square(std::span<const std::uint64_t> counts, std::span<const double> expected) {
  CHECK(!counts.empty() && counts.size() == expected.size());
  ChiSquare test{.degrees = counts.size() - 1};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double difference = static_cast<double>(counts[i]) - expected[i];
    test.value += difference * difference / expected[i];
  }
  if (test.degrees == 0) return test;
  const auto degrees = static_cast<double>(test.degrees);
  test.sigma = (test.value - degrees) / std::sqrt(2 * degrees);
  return test;
}

}  // namespace cleave::rehearse
