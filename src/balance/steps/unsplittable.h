// When nothing can be done because keys cannot be divided: which keys, and what a person can do.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balance/plan/plan.h"
#include "balance/steps/board.h"

namespace cleave::balance {

// The heavy tokens of the node, heaviest first.
std::vector<HeavyToken> heavy_on(const std::vector<HeavyToken>& heavy, NodeId node);

// "hits", or "token 0123456789abcdef" where its key is not known. A name that is no plain text
// stands between quotes.
std::string name_of(const HeavyToken& token);

// "hits is 98.2 % of the load of node 'a' (3.10x of its fair load): no cut can divide a key; ...".
// The fewest tokens, heaviest first, without which the node's `load` would be `enough` or less; or
// all. Requires: at least one, of that node.
Verdict unsplittable(const BoardNode& node, std::uint64_t load, std::uint64_t enough,
                     const std::vector<HeavyToken>& tokens);

// Why the node is left where it is although nothing of it must stay: tokens elsewhere keep the
// highest level at `bound_ppm`, and this node is below that.
Verdict below_bound(const BoardNode& node, std::uint32_t level_ppm, std::uint32_t bound_ppm,
                    const std::vector<HeavyToken>& heavy, const Board& board);

}  // namespace cleave::balance
