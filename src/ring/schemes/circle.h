// From the points of a circle, or the entries of a table, to arcs of tokens. For the files of this
// folder. Pure; threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "ring/arc_table.h"

namespace cleave::ring {

// `node` is an index into the list of nodes.
struct CirclePoint {
  std::uint64_t value;  // as the peer orders them: signed ones already with their top bit turned
  std::uint32_t node;
};

// How a peer reads its circle.
struct CircleRules {
  enum class Width : std::uint8_t { k32, k64 };
  enum class Tie : std::uint8_t { kFirstPut, kLastPut };  // of equal points
  // Which point owns a value.
  enum class Pick : std::uint8_t {
    kAtOrAbove,  // the first point >= value; past the last, the first of all
    kAbove,      // the first point > value; likewise
    kNearest,    // the nearer one on either side, the lower one if equally near (width k32 only).
                 // Equal points: the last put serves the values above, the first put the others.
  };
  Width width = Width::k32;
  Tie tie = Tie::kFirstPut;
  Pick pick = Pick::kAtOrAbove;
};

// The arcs of a circle. Empty when there are no points. Requires: sorted by value, equal values in
// the order in which they were put (ring/schemes/point_sort.h). Cost: O(points).
ArcTable circle_arcs(std::span<const CirclePoint> points, const CircleRules& rules);

// Token of a 32-bit value: order is kept.
constexpr Token token_of_32(std::uint32_t value) { return Token{std::uint64_t{value} << 32U}; }

// The last token of a value of the width. Requires: the value fits it.
constexpr std::uint64_t last_token(std::uint64_t value, CircleRules::Width width) {
  CHECK(width == CircleRules::Width::k64 || value <= 0xFFFFFFFFU);
  return width == CircleRules::Width::k32 ? value << 32U | 0xFFFFFFFFU : value;
}

// Signed values in unsigned order.
constexpr std::uint64_t unsigned_order(std::uint64_t value) {
  return value ^ (std::uint64_t{1} << 63U);
}

// A table of entries, each the index of a node: entry i of n owns the i-th of n equal segments of
// all tokens. Requires: 1..2^32 entries.
ArcTable table_arcs(std::span<const std::uint32_t> table);

// Segments [0, n) owned by the nodes 0..n-1.
ArcTable node_segments(std::size_t nodes);

// One of `count` equal parts of all tokens.
struct Segment {
  std::uint64_t index;
  std::uint64_t count;
};

// The first token of a segment. Requires: index < count.
Token segment_token(const Segment& segment);

// The token in a segment that is as far in it as `hash` is in 64 bit.
Token segment_token(const Segment& segment, std::uint64_t hash);

}  // namespace cleave::ring
