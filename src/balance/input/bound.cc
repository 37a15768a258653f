#include "balance/input/bound.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/check.h"
#include "base/ppm.h"
#include "base/wide.h"

namespace cleave::balance {
namespace {

constexpr std::size_t kSharersMax = 8;  // tokens that must share one node; more add nothing

}  // namespace

std::uint32_t bound_ppm(std::span<const std::uint64_t> token_loads, std::uint64_t total_load,
                        std::span<const std::uint64_t> capacities) {
  if (total_load == 0 || capacities.empty()) return kMillion;
  Wide capacity = 0;
  for (const std::uint64_t each : capacities) capacity += each;
  CHECK(capacity > 0);
  const std::uint64_t largest = *std::ranges::max_element(capacities);
  const auto fair = static_cast<std::uint64_t>(Wide{total_load} * largest / capacity);
  if (fair == 0) return kMillion;

  const std::size_t nodes = capacities.size();
  std::vector<std::uint64_t> heaviest(std::min(token_loads.size(), kSharersMax * nodes + 1));
  std::ranges::partial_sort_copy(token_loads, heaviest, std::greater{});
  Wide worst = 0;
  // Of the first k * n + 1 tokens some k + 1 share a node: at best the lightest of them.
  for (std::size_t sharers = 0; sharers * nodes < heaviest.size(); ++sharers) {
    Wide load = 0;
    for (std::size_t back = 0; back <= sharers; ++back) load += heaviest[sharers * nodes - back];
    worst = std::max(worst, load);
  }
  const Wide ppm = worst * kMillion / fair;
  return static_cast<std::uint32_t>(std::clamp(ppm, Wide{kMillion}, Wide{0xFFFFFFFFU}));
}

}  // namespace cleave::balance
