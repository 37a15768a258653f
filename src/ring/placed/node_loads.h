// NodeLoads: how much each node carries now, beside its weight. What bounded_loads.h and
// ring/placed/two_choices.h count with.
//
// Threads: one owner. Memory: 24 bytes a node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/placed/arc_walk.h"

namespace cleave::ring {

inline constexpr std::uint32_t kLoadWeightMax = 1'000'000;

// A node and what it can carry beside the others: 1..kLoadWeightMax.
struct WeightedNode {
  NodeId node;
  std::uint32_t weight = 1;
};

class NodeLoads {
 public:
  // Places are those of `nodes`, as in a walk that was built of the same list. A node that owns no
  // arc can be met by nobody: its weight does not count. Errors: kInvalid for weights outside
  // their bounds. Requires: no node twice.
  static Result<NodeLoads> build(const ArcWalk& walk, std::span<const WeightedNode> nodes);

  std::optional<std::uint32_t> place_of(NodeId node) const;  // nullopt: no such node
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NodeId node(std::uint32_t place) const { return nodes_[place]; }
  std::uint64_t load(std::uint32_t place) const { return loads_[place]; }
  std::uint64_t load(NodeId node) const;                                       // 0: no such node
  std::uint32_t weight(std::uint32_t place) const { return weights_[place]; }  // 0 without arcs
  std::uint64_t total() const { return total_; }                               // of all loads
  std::uint64_t total_weight() const { return total_weight_; }  // of all nodes with arcs

  void add(std::uint32_t place) {
    ++loads_[place];
    ++total_;
  }

  // False, and nothing changes, when there is no such node or it carries nothing.
  bool remove(NodeId node);

  // Counts on with the loads of `before` for the nodes that are in both; all others are 0.
  void take(const NodeLoads& before);

 private:
  std::vector<NodeId> nodes_;                             // of a place
  std::vector<std::uint32_t> weights_;                    // of a place
  std::vector<std::uint64_t> loads_;                      // of a place
  std::vector<std::pair<NodeId, std::uint32_t>> places_;  // sorted
  std::uint64_t total_ = 0;
  std::uint64_t total_weight_ = 0;
};

// The list without the weights, for `ArcWalk::build`.
std::vector<NodeId> ids_of(std::span<const WeightedNode> nodes);

}  // namespace cleave::ring
