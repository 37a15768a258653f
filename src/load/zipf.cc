#include "load/zipf.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace cleave::load {
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
  build_alias();
}

// Every place holds total / ranks. What a light rank leaves free of its place is filled from a
// heavy one, until nobody has too little or too much.
void Zipf::build_alias() {
  const std::size_t ranks = weights_.size();
  thresholds_.assign(ranks, kAlways);
  aliases_.assign(ranks, 0);
  std::vector<Wide> left(ranks);  // in units where a place holds `total_`
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    left[rank] = Wide{weights_[rank]} * ranks;
    (left[rank] < total_ ? light : heavy).push_back(rank);
  }
  while (!light.empty() && !heavy.empty()) {
    const std::uint32_t small = light.back();
    const std::uint32_t large = heavy.back();
    light.pop_back();
    // total_ is below 2^82, so the quotient is taken in two steps of 32 bits.
    const Wide high = (left[small] << 32U) / total_;
    const Wide rest = (left[small] << 32U) % total_;
    thresholds_[small] = static_cast<std::uint64_t>((high << 32U) + (rest << 32U) / total_);
    aliases_[small] = large;
    left[large] -= total_ - left[small];
    if (left[large] < total_) {
      heavy.pop_back();
      light.push_back(large);
    }
  }
}

std::size_t Zipf::draw(Rng& rng) const {
  const auto place = static_cast<std::size_t>(rng.below(weights_.size()));
  return rng.next() <= thresholds_[place] ? place : aliases_[place];
}

std::uint64_t Zipf::share(std::size_t rank) const {
  const Wide high = (Wide{weights_[rank]} << 32U) / total_;
  const Wide rest = (Wide{weights_[rank]} << 32U) % total_;
  const Wide share = (high << 32U) + (rest << 32U) / total_;
  return share > kAlways ? kAlways : static_cast<std::uint64_t>(share);
}

}  // namespace cleave::load
