// Consistent hashing with bounded loads: a key goes to its owner unless that is full; then to the
// next node clockwise that is not. For what any node can serve and one serves best: persistent
// sessions, overflow of a cache. Not for a store: nothing remembers where a key went.
//
//   bound of a node = ceil(c x (load of all + 1) x its weight / weight of all), c > 1
//
// Guarantees:
// - no `acquire` raises a node above its bound; the bounds sum to more than all load, so that
//   there is always a node with room;
// - a key whose owner has room goes to its owner;
// - deterministic: the same calls give the same nodes.
// A release elsewhere lowers every bound, so that a node may stand above its own for a while: it
// then gets nothing until it is below. Nothing moves that was placed.
//
// Source: Mirrokni, Thorup, Zadimoghaddam, "Consistent Hashing with Bounded Loads" (SODA 2018,
// arXiv:1608.01350), keys in order of arrival; weights as shares of the bound, as in HAProxy's
// hash-balance-factor and Envoy's hash_balance_factor (c in per cent there). Rounding::kHaproxy
// with the arcs of the scheme `haproxy` is HAProxy 2.6.12, request for request
// (ring/testdata/vectors/haproxy_bounded_loads.json).
//
// Threads: one owner. Cost of `acquire`: the search, and a step for each arc whose owner is full:
// O(1/e^2) expected for c = 1 + e on a ring of equal weights, O(arcs) at worst; no allocation, and
// for kUp no division. Memory: 20 to 28 bytes an arc, 32 a node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/placed/arc_walk.h"
#include "ring/placed/node_loads.h"

namespace cleave::ring {

// c in thousandths: 1'250 lets a node carry a quarter more than its share.
inline constexpr std::uint32_t kBoundPerMilleMin = 1'001;
inline constexpr std::uint32_t kBoundPerMilleMax = 1'000'000;

// How bounds become whole numbers.
enum class Rounding : std::uint8_t {
  kUp,  // each by itself, as in the paper and in Envoy
  // ceil(c x (load of all + 1)) places in all, shared out by running sums of the weights in the
  // order of the nodes, rounded down; at least one each.
  kHaproxy,
};

class BoundedLoads {
 public:
  // Works on any arcs: a Placement's, or a RingView's owners. Errors: kInvalid as ArcWalk::build
  // and NodeLoads::build, and for a bound outside of its limits. Cost: O(arcs x log nodes).
  static Result<BoundedLoads> build(std::span<const Arc> arcs, std::span<const WeightedNode> nodes,
                                    std::uint32_t bound_per_mille,
                                    Rounding rounding = Rounding::kUp);

  // Adds one to the load of the node that it answers with.
  NodeId acquire(Token token);

  // Gives one back. False, and nothing changes, when there is no such node or it carries nothing.
  bool release(NodeId node) { return loads_.remove(node); }

  std::uint64_t load(NodeId node) const { return loads_.load(node); }  // 0: no such node
  std::uint64_t total() const { return loads_.total(); }

  // How much the node may carry after the next `acquire`. 0 when there is no such node or it owns
  // no arc.
  std::uint64_t bound(NodeId node) const;

  // For a new ring: counts on with the loads of nodes that were in the old one.
  void take_loads(const BoundedLoads& before) { loads_.take(before.loads_); }

 private:
  BoundedLoads(ArcWalk walk, NodeLoads loads, std::uint32_t bound_per_mille, Rounding rounding);

  std::uint64_t bound_of(std::uint32_t place) const;

  ArcWalk walk_;
  NodeLoads loads_;
  std::uint32_t bound_per_mille_;
  Rounding rounding_;
  std::vector<std::uint64_t> weight_before_;  // of a place: the sum of those before it
};

}  // namespace cleave::ring
