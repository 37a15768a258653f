// What stands behind a cleave::Ring. For the files of this folder.
//
// Immutable. Threads: any, read-only.
#pragma once

#include <cleave/ring.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "ring/placed/placed_ring.h"

namespace cleave {

// The ring of the core, and what of it the public interface gives by reference.
struct [[gnu::visibility("hidden")]] Ring::Impl {
  explicit Impl(ring::PlacedRing placed);

  ring::PlacedRing ring;
  std::vector<Node> nodes;
  std::vector<Cut> cuts;
  Options options;
};

// The library's own way into a Ring.
struct RingAccess {
  static const ring::PlacedRing& of(const Ring& ring);
  static Ring wrap(ring::PlacedRing ring);
};

namespace ring_library {

inline ring::RingNode core_node(const Ring::Node& node) {
  return {node.name, node.weight, node.rack, node.datacenter};
}

}  // namespace ring_library
}  // namespace cleave
