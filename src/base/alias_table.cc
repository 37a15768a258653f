#include "base/alias_table.h"

#include <limits>

#include "base/check.h"
#include "base/wide.h"

namespace cleave {
namespace {

constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// Every place holds total / places. What a light weight leaves free of its place is filled from a
// heavy one, until nobody has too little or too much.
AliasTable::AliasTable(std::span<const std::uint64_t> weights)
    : places_(weights.size(), Place{.threshold = kAlways, .alias = 0}) {
  CHECK(!weights.empty() && weights.size() < std::numeric_limits<std::uint32_t>::max());
  Wide total = 0;
  for (const std::uint64_t weight : weights) total += weight;
  CHECK(total > 0 && total < (Wide{1} << 96U) / weights.size());
  std::vector<Wide> left(weights.size());  // in units where a place holds `total`
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t at = 0; at < weights.size(); ++at) {
    left[at] = Wide{weights[at]} * weights.size();
    (left[at] < total ? light : heavy).push_back(at);
  }
  while (!light.empty() && !heavy.empty()) {
    const std::uint32_t small = light.back();
    const std::uint32_t large = heavy.back();
    light.pop_back();
    // total is below 2^96, so the quotient is taken in two steps of 32 bits.
    CHECK(left[small] < total && left[large] >= total);
    const Wide high = (left[small] << 32U) / total;
    const Wide rest = (left[small] << 32U) % total;
    const auto share = static_cast<std::uint64_t>((high << 32U) + (rest << 32U) / total);
    places_[small] = {.threshold = share, .alias = large};
    left[large] -= total - left[small];
    if (left[large] < total) {
      heavy.pop_back();
      light.push_back(large);
    }
  }
}

}  // namespace cleave
