#include "ring/bounded_loads.h"

#include <string>

#include "base/wide.h"

namespace cleave::ring {

Result<BoundedLoads> BoundedLoads::build(std::span<const Arc> arcs,
                                         std::span<const WeightedNode> nodes,
                                         std::uint32_t bound_per_mille) {
  if (bound_per_mille < kBoundPerMilleMin || bound_per_mille > kBoundPerMilleMax) {
    return fail(Code::kInvalid, "a bound of " + std::to_string(bound_per_mille) +
                                    " thousandths of the mean load, want " +
                                    std::to_string(kBoundPerMilleMin) + " to " +
                                    std::to_string(kBoundPerMilleMax));
  }
  auto walk = ArcWalk::build(arcs, ids_of(nodes));
  if (!walk) return std::unexpected(walk.error());
  auto loads = NodeLoads::build(*walk, nodes);
  if (!loads) return std::unexpected(loads.error());
  return BoundedLoads(std::move(*walk), std::move(*loads), bound_per_mille);
}

NodeId BoundedLoads::acquire(Token token) {
  const Wide allowed = Wide{bound_per_mille_} * (loads_.total() + 1);
  const Wide parts = Wide{1'000} * loads_.total_weight();
  // An integer is below ceil(x / y) exactly when it is below x / y.
  const auto has_room = [&](std::uint32_t place) {
    return loads_.load(place) * parts < allowed * loads_.weight(place);
  };
  std::uint32_t arc = walk_.find(token);
  while (!has_room(walk_.place(arc))) arc = walk_.clockwise(arc);
  loads_.add(walk_.place(arc));
  return loads_.node(walk_.place(arc));
}

std::uint64_t BoundedLoads::bound(NodeId node) const {
  const auto place = loads_.place_of(node);
  if (!place) return 0;
  const Wide parts = Wide{1'000} * loads_.total_weight();
  const Wide share = Wide{bound_per_mille_} * (loads_.total() + 1) * loads_.weight(*place);
  return static_cast<std::uint64_t>((share + parts - 1) / parts);
}

}  // namespace cleave::ring
