// The `vnode` scheme: how keys and nodes are placed when no cut says otherwise. Its points are laid
// in ring/schemes/peers/native.cc.
//
//   token of a key   XXH3-64 of its hash tag
//   points of a node 128 x weight, at XXH3-64 of "name#i", i = 0, 1, ...
//   owner of a token the node of the first point >= token; past the last point, of the first one
//   tie              the node with the smaller id
//
// These values are a wire format: golden vectors in ring/testdata freeze them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace cleave::ring {

inline constexpr std::string_view kVnodeScheme = "vnode";
inline constexpr std::uint32_t kPointsPerWeight = 128;

Token vnode_token(std::string_view key);

}  // namespace cleave::ring
