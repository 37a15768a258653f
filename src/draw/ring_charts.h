// Charts of rings: who owns what, what changes owner, how keys spread.
//
// Each draws a whole picture of kWidth x kHeight. The circle is the token space, clockwise from the
// top: outside the arcs themselves, inside what they sum to for each node. Node i has
// `node_colour(i)` and the NodeId i + 1. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "draw/canvas.h"
#include "draw/node_bars.h"
#include "ring/arc_table.h"
#include "ring/view/diff.h"

namespace cleave::draw {

// More arcs than this are no picture any more, only a large file: then their sums alone are drawn.
inline constexpr std::size_t kArcsDrawnMax = 4'096;

// A node's name, its amount, and what that is compared with.
struct NodeAmount {
  std::string name;
  double amount = 0;
  double compared = 0;
};

// Amounts are shares, 0 ... 1: owned, compared with wanted.
struct OwnershipChart {
  std::string title;
  std::vector<NodeAmount> nodes;
  std::span<const ring::Arc> arcs;
  double peak = 1;  // highest owned / wanted
};

// Amounts are shares: after, compared with before.
struct RingDiffChart {
  std::string title;
  std::vector<NodeAmount> nodes;
  std::vector<double> gained;             // share that comes to each node from others
  std::span<const ring::Change> changes;  // none when keys were compared
  double least = 0;                       // share
  std::uint64_t keys = 0;                 // that were compared; 0: all tokens
};

// Amounts are keys, compared with the expected number.
struct SpreadChart {
  std::string title;
  std::string subtitle;
  std::vector<NodeAmount> nodes;
};

// Requires: nodes; all ids known.
void draw_ownership(Canvas& canvas, const OwnershipChart& chart);

// Requires: nodes; `gained` for each; all ids known.
void draw_ring_diff(Canvas& canvas, const RingDiffChart& chart);

// Requires: nodes.
void draw_spread(Canvas& canvas, const SpreadChart& chart);

}  // namespace cleave::draw
