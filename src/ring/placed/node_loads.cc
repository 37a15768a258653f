#include "ring/placed/node_loads.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace cleave::ring {

Result<NodeLoads> NodeLoads::build(const ArcWalk& walk, std::span<const WeightedNode> nodes) {
  NodeLoads loads;
  loads.nodes_ = ids_of(nodes);
  loads.weights_.resize(nodes.size());
  loads.loads_.resize(nodes.size());
  for (std::uint32_t place = 0; place < nodes.size(); ++place) {
    const WeightedNode& each = nodes[place];
    if (each.weight == 0 || each.weight > kLoadWeightMax) {
      return fail(Code::kInvalid, "node " + std::to_string(each.node.value()) + ": weight " +
                                      std::to_string(each.weight) + ", want 1 to " +
                                      std::to_string(kLoadWeightMax));
    }
    loads.places_.emplace_back(each.node, place);
  }
  std::ranges::sort(loads.places_);
  CHECK(std::ranges::adjacent_find(loads.places_, {}, &std::pair<NodeId, std::uint32_t>::first) ==
        loads.places_.end());
  for (std::uint32_t arc = 0; arc < walk.arcs(); ++arc) {
    const std::uint32_t place = walk.place(arc);
    CHECK(place < nodes.size());
    if (loads.weights_[place] != 0) continue;
    loads.weights_[place] = nodes[place].weight;
    loads.total_weight_ += nodes[place].weight;
  }
  return loads;
}

std::optional<std::uint32_t> NodeLoads::place_of(NodeId node) const {
  const auto found =
      std::ranges::lower_bound(places_, node, {}, &std::pair<NodeId, std::uint32_t>::first);
  if (found == places_.end() || found->first != node) return std::nullopt;
  return found->second;
}

std::uint64_t NodeLoads::load(NodeId node) const {
  const auto place = place_of(node);
  return place ? loads_[*place] : 0;
}

bool NodeLoads::remove(NodeId node) {
  const auto place = place_of(node);
  if (!place || loads_[*place] == 0) return false;
  CHECK(total_ >= loads_[*place]);
  --loads_[*place];
  --total_;
  return true;
}

void NodeLoads::take(const NodeLoads& before) {
  total_ = 0;
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) {
    loads_[place] = before.load(nodes_[place]);
    total_ += loads_[place];
  }
}

std::vector<NodeId> ids_of(std::span<const WeightedNode> nodes) {
  std::vector<NodeId> ids;
  ids.reserve(nodes.size());
  for (const WeightedNode& each : nodes) ids.push_back(each.node);
  return ids;
}

}  // namespace cleave::ring
