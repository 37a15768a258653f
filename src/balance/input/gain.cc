#include "balance/input/gain.h"

#include <algorithm>

#include "base/wide.h"

namespace cleave::balance {

std::uint64_t real_gain(const GainBasis& basis) {
  if (basis.total_before == 0) return 0;
  const auto share_then =
      static_cast<std::uint64_t>(Wide{basis.source_before} * basis.total_now / basis.total_before);
  return share_then > basis.source_now ? share_then - basis.source_now : 0;
}

std::uint64_t slow_load(const heat::Picture& picture, NodeId node) {
  const auto found = std::ranges::find(picture.nodes, node, &heat::NodeLoad::node);
  return found == picture.nodes.end() ? 0 : found->load.slow;
}

std::uint64_t slow_load(const heat::Picture& picture) {
  std::uint64_t total = 0;
  for (const heat::NodeLoad& each : picture.nodes) total += each.load.slow;
  return total;
}

}  // namespace cleave::balance
