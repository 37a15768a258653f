// A document of two nodes, and a move in it, for the tests of the checkers.
#pragma once

#include "ring/edits/edits.h"

namespace cleave::sim {

inline ring::Document two_nodes(ring::Mode mode) {
  ring::Node left;
  left.name = "left";
  left.members = {{.address = "10.0.0.1:6379", .rack = ""}};
  ring::Node right = left;
  right.name = "right";
  right.members = {{.address = "10.0.0.2:6379", .rack = ""}};
  return *ring::create({.pool = "main",
                        .mark = "mark",
                        .nodes = {left, right},
                        .mode = mode,
                        .now = UnixMillis{1'700'000'000'000}});
}

// Of the first range to the node that has it not.
inline ring::MoveRequest some_move(const ring::Document& document) {
  const ring::RingSnapshot view = *ring::RingView::build(document);
  const ring::Entry& entry = view->entries().front();
  const NodeId other = document.nodes[entry.node == document.nodes[0].id ? 1 : 0].id;
  return {.ranges = {entry.range},
          .source = entry.node,
          .destination = other,
          .reason = "test",
          .now = UnixMillis{1'700'000'000'000}};
}

}  // namespace cleave::sim
