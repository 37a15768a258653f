// Placements of one scheme whose nodes come, go and change their weights, each made from the one
// before.
//
//   place:              hash the points of all nodes, sort them, lay the arcs
//   PlacementBuilder:   hash those of one node, merge them in, lay the arcs
//
// On circles where the points of a node depend on that node alone (vnode, murmur64a-vnode,
// java-vnode, named jedis, nginx consistent, uhashring by number); other schemes are placed anew.
// Threads: one owner; the placements are immutable and belong to whoever holds them. Memory: 16
// to 32 bytes a point beside the placement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ring/schemes/circle.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// Invariant: `placement()` places every key as `place(spec, nodes())` does.
class PlacementBuilder {
 public:
  // Errors and cost: as `place`.
  static Result<PlacementBuilder> start(SchemeSpec spec, std::vector<PlacedNode> nodes);

  std::span<const PlacedNode> nodes() const { return nodes_; }
  const std::shared_ptr<const Placement>& placement() const { return placement_; }

  // Each changes one node of the list and makes the new placement; on an error nothing changes.
  // Errors: as `place`; kNotFound for a name that no node has. Cost: O(points) without a hash or a
  // search for those of the other nodes.
  Result<void> add(PlacedNode node);  // at the end of the list
  Result<void> remove(std::string_view name);
  Result<void> set_weight(std::string_view name, std::uint32_t weight);

 private:
  PlacementBuilder(SchemeSpec spec, std::vector<PlacedNode> nodes)
      : spec_(std::move(spec)), nodes_(std::move(nodes)) {}

  // Errors: kNotFound.
  Result<std::uint32_t> index_of(std::string_view name) const;

  // Takes over the list; `edit(circle)` changes the points from those of the old one to those of
  // the new.
  template <class Edit>
  Result<void> change_to(std::vector<PlacedNode> nodes, Edit edit);

  SchemeSpec spec_;
  std::vector<PlacedNode> nodes_;
  std::vector<CirclePoint> points_;  // of all nodes, by value, then by node; empty if placed anew
  std::shared_ptr<const Placement> placement_;
};

}  // namespace cleave::ring
