// ArcWalk: arcs made fast for what walks along the ring from a token (ring/placed/replicas.h,
// ring/placed/bounded_loads.h, ring/placed/two_choices.h).
//
//   arcs    0 |  7  | 3 | 7 |    9    | 3 | 2^64-1      owners by NodeId
//   places    |  0  | 1 | 0 |    2    | 1 |             owners as places in the list of nodes
//
// Immutable. Threads: any, read-only. Memory: 20 to 28 bytes an arc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/token_index.h"

namespace cleave::ring {

class ArcWalk {
 public:
  // `nodes`: who may own arcs. Errors: kInvalid when the arcs do not cover every token once, in
  // order; when an owner is not in `nodes`; for a node that is there twice. Cost: O(arcs x log
  // nodes).
  static Result<ArcWalk> build(std::span<const Arc> arcs, std::span<const NodeId> nodes);

  std::uint32_t arcs() const { return static_cast<std::uint32_t>(places_.size()); }

  // The arc that holds the token, 0 .. arcs() - 1 in token order. Cost: O(1) expected.
  std::uint32_t find(Token token) const { return index_.find(token); }

  // The owner of the arc, as a place in `nodes`.
  std::uint32_t place(std::uint32_t arc) const { return places_[arc]; }

  // The arc that begins where this one ends; after the last comes the first.
  std::uint32_t clockwise(std::uint32_t arc) const { return arc + 1 == arcs() ? 0 : arc + 1; }

 private:
  ArcWalk(TokenIndex index, std::vector<std::uint32_t> places)
      : index_(std::move(index)), places_(std::move(places)) {}

  TokenIndex index_;
  std::vector<std::uint32_t> places_;
};

}  // namespace cleave::ring
