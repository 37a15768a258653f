// The `vnode` scheme: how keys and nodes are placed when no cut says otherwise.
//
//   token of a key   XXH3-64 of its hash tag
//   points of a node 128 x weight, at XXH3-64 of "name#i", i = 0, 1, ...
//   owner of a token the node of the first point >= token; past the last point, of the first one
//   tie              the node with the smaller id
//
// These values are a wire format: golden vectors in ring/testdata freeze them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ring/document.h"
#include "ring/token_range.h"

namespace cleave::ring {

inline constexpr std::string_view kVnodeScheme = "vnode";
inline constexpr std::uint32_t kPointsPerWeight = 128;

// The base ring as intervals: [previous point + 1, point] belongs to `node`. Covers every token
// once, sorted; neighbours of one owner are joined.
struct Arc {
  TokenRange range;
  NodeId node;

  friend bool operator==(const Arc&, const Arc&) = default;
};

Token vnode_token(std::string_view key);

// Draining nodes have no points. Empty when no node is active. Cost: O(points) expected.
std::vector<Arc> vnode_base(std::span<const Node> nodes);

}  // namespace cleave::ring
