#include "loadgen/zipf.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace cleave::loadgen {
namespace {

// Weights are integers from here on, so that sums and comparisons are exact.
constexpr double kWeightOfFirst = 1125899906842624.0;  // 2^50

constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Zipf::Zipf(std::size_t ranks, std::uint32_t exponent_thousandths) {
  CHECK(ranks > 0 && ranks < std::numeric_limits<std::uint32_t>::max());
  const double exponent = static_cast<double>(exponent_thousandths) / 1000.0;
  weights_.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const double weight = kWeightOfFirst / std::pow(static_cast<double>(rank + 1), exponent);
    weights_.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(weight)));
    total_ += weights_.back();
  }
  places_.emplace(weights_);
}

std::uint64_t Zipf::share(std::size_t rank) const {
  const Wide high = (Wide{weights_[rank]} << 32U) / total_;
  const Wide rest = (Wide{weights_[rank]} << 32U) % total_;
  const Wide share = (high << 32U) + (rest << 32U) / total_;
  return share > kAlways ? kAlways : static_cast<std::uint64_t>(share);
}

}  // namespace cleave::loadgen
