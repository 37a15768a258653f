// Pool: the ring document of a simulated pool and the nodes behind it. Every change is a real edit
// of ring/edits/edits.h; an edit that the document refuses is refused here.
//
// Nodes are known by their number, 0, 1, ... in the order in which they came; it is never reused.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "balance/plan/plan.h"
#include "base/clock.h"
#include "base/result.h"
#include "rehearse/workloads/workload.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

// A node of the simulated pool, also when it has left again.
struct PoolNode {
  NodeSpec spec = {};
  std::uint64_t capacity = 0;  // nanoseconds of server time a second
  bool healthy = true;
  bool member = true;  // false: it has left
  bool active = true;  // takes part in the base: false while it drains and afterwards
};

constexpr std::size_t number_of(NodeId node) { return node.value() - 1; }
constexpr NodeId id_of(std::size_t number) {
  return NodeId{static_cast<std::uint32_t>(number + 1)};
}

// The document of a new pool of these nodes. Errors: of ring::create.
Result<ring::Document> simulated_document(const std::vector<NodeSpec>& nodes, UnixMillis now,
                                          const ring::SchemeSpec& scheme);

class Pool {
 public:
  // Requires: nodes and a scheme of which simulated_document makes a document.
  Pool(const std::vector<NodeSpec>& nodes, UnixMillis now,
       const ring::SchemeSpec& scheme = {.name = "vnode"});

  const std::vector<PoolNode>& nodes() const { return nodes_; }
  const ring::Document& document() const { return document_; }
  // Of the document as it is. Cost: O(entries log entries) after a change, else nothing.
  const ring::RingSnapshot& view();

  void add(const NodeSpec& node, UnixMillis now);
  // Errors: of ring::drain_node; kNotFound for an unknown name.
  Result<void> drain(std::string_view name, UnixMillis now);
  // Takes out drained nodes that own nothing any more.
  void remove_empty();
  // The nodes of the rack, which are healthy from now on, or not.
  void set_rack_healthy(std::string_view rack, bool healthy);

  Result<MoveId> begin(const balance::PlannedMove& move, UnixMillis now);
  // From COPYING to gone; the destination owns the ranges. Requires: the move is under way.
  void commit(MoveId move, UnixMillis now);
  // Requires: the move is under way.
  void abort(MoveId move);
  Result<void> lay_cut(const ring::Cut& cut);
  Result<void> merge(const ring::TokenRange& range, UnixMillis now);

  // The fair load of each node: its capacity's share of `total`; 0 for one that is not active.
  std::vector<std::uint64_t> fair_loads(std::uint64_t total) const;
  std::vector<std::uint64_t> capacities() const;  // of the active nodes

 private:
  Result<void> adopt(Result<ring::Document> next);

  std::vector<PoolNode> nodes_;
  ring::Document document_;
  ring::RingSnapshot view_;  // nullptr: to be built
};

}  // namespace cleave::rehearse
