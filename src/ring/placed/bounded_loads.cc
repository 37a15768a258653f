#include "ring/placed/bounded_loads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::ring {

Result<BoundedLoads> BoundedLoads::build(std::span<const Arc> arcs,
                                         std::span<const WeightedNode> nodes,
                                         std::uint32_t bound_per_mille, Rounding rounding) {
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
  return BoundedLoads(std::move(*walk), std::move(*loads), bound_per_mille, rounding);
}

BoundedLoads::BoundedLoads(ArcWalk walk, NodeLoads loads, std::uint32_t bound_per_mille,
                           Rounding rounding)
    : walk_(std::move(walk)),
      loads_(std::move(loads)),
      bound_per_mille_(bound_per_mille),
      rounding_(rounding) {
  std::uint64_t sum = 0;
  for (std::uint32_t place = 0; place < loads_.nodes(); ++place) {
    weight_before_.push_back(sum);
    sum += loads_.weight(place);
  }
  CHECK(sum > 0 && sum == loads_.total_weight());
}

NodeId BoundedLoads::acquire(Token token) {
  const Wide allowed = Wide{bound_per_mille_} * (loads_.total() + 1);
  const Wide parts = Wide{1'000} * loads_.total_weight();
  const auto has_room = [&](std::uint32_t place) {
    if (rounding_ == Rounding::kHaproxy) return loads_.load(place) < bound_of(place);
    // The same for kUp: an integer is below ceil(x / y) exactly when it is below x / y.
    return loads_.load(place) * parts < allowed * loads_.weight(place);
  };
  const std::uint32_t start = walk_.find(token);
  std::uint32_t arc = start;
  while (!has_room(walk_.place(arc))) {
    arc = walk_.clockwise(arc);
    CHECK(arc != start);  // all bounds together are above the load
  }
  loads_.add(walk_.place(arc));
  return loads_.node(walk_.place(arc));
}

std::uint64_t BoundedLoads::bound(NodeId node) const {
  const auto place = loads_.place_of(node);
  return place && loads_.weight(*place) > 0 ? bound_of(*place) : 0;
}

std::uint64_t BoundedLoads::bound_of(std::uint32_t place) const {
  CHECK(place < weight_before_.size());
  const Wide allowed = Wide{bound_per_mille_} * (loads_.total() + 1);  // in thousandths
  const Wide weight = loads_.weight(place);
  const Wide weights = loads_.total_weight();
  if (rounding_ == Rounding::kUp) {
    const Wide parts = 1'000 * weights;
    return static_cast<std::uint64_t>((allowed * weight + parts - 1) / parts);
  }
  const Wide places = (allowed + 999) / 1'000;
  const Wide before = weight_before_[place];
  const Wide share = places * (before + weight) / weights - places * before / weights;
  return std::max(std::uint64_t{1}, static_cast<std::uint64_t>(share));
}

}  // namespace cleave::ring
