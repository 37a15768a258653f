// The power of two choices: a key has two nodes, and each time goes to the one that carries less
// beside its weight. The busiest of n nodes then has about log log n above the mean, where one
// choice gives log n / log log n (or the root of mean x log n, for many keys a node). For what
// either node can serve: requests without state, a cache of which two copies of a key may exist.
//
//   first choice    the owner of the token
//   second choice   the owner of another token, mixed from the first one; when that is the same
//                   node, the next node clockwise
//
// Compared with bounded loads: a key is on two nodes at most, and they are known without any load;
// there is no bound, only a very likely one. Nothing moves that was placed.
//
// Source: Azar, Broder, Karlin, Upfal, "Balanced Allocations" (SIAM J. Comput. 29(1), 1999);
// Berenbrink, Czumaj, Steger, Vöcking, "Balanced Allocations: The Heavily Loaded Case"
// (STOC 2000) for many keys; Byers, Considine, Mitzenmacher, "Geometric Generalizations of the
// Power of Two Choices" (SPAA 2004) for rings.
//
// Threads: one owner. Cost of `acquire`: two searches; no allocation. Deterministic.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/placed/arc_walk.h"
#include "ring/placed/node_loads.h"

namespace cleave::ring {

// Both are the same where only one node owns arcs.
struct NodeChoices {
  NodeId first;
  NodeId second;

  friend bool operator==(const NodeChoices&, const NodeChoices&) = default;
};

class TwoChoices {
 public:
  // Errors: kInvalid as ArcWalk::build and NodeLoads::build. Cost: O(arcs x log nodes).
  static Result<TwoChoices> build(std::span<const Arc> arcs, std::span<const WeightedNode> nodes);

  // Whatever they carry. Neighbouring arcs of one owner cost a step each.
  NodeChoices choices(Token token) const;

  // Adds one to the load of the node that it answers with: the one that then carries less beside
  // its weight; the first if they are equal.
  NodeId acquire(Token token);

  // Gives one back. False, and nothing changes, when there is no such node or it carries nothing.
  bool release(NodeId node) { return loads_.remove(node); }

  std::uint64_t load(NodeId node) const { return loads_.load(node); }  // 0: no such node
  std::uint64_t total() const { return loads_.total(); }

  // For a new ring: counts on with the loads of nodes that were in the old one.
  void take_loads(const TwoChoices& before) { loads_.take(before.loads_); }

 private:
  // Of nodes.
  struct Places {
    std::uint32_t first;
    std::uint32_t second;
  };

  TwoChoices(ArcWalk walk, NodeLoads loads) : walk_(std::move(walk)), loads_(std::move(loads)) {}

  Places places(Token token) const;

  ArcWalk walk_;
  NodeLoads loads_;
};

}  // namespace cleave::ring
