// The option `tokens` of Cassandra, whose nodes keep as state where on the circle they stand
// (`nodetool ring`; `initial_token` of cassandra.yaml). For the files of this folder.
//
//   tokens = part { ";" part }             10.0.0.1=-9223372036854775808,42;10.0.0.2=-7
//   part   = node "=" token { "," token }  (ring/schemes/peers/owner_lists.h)
//   token  = signed decimal of 64 bit, of Murmur3Partitioner
//
// Every node that is there has a token. Those of a node that is not there, because it left, are
// nobody's: the next token's node takes over, as after `nodetool decommission`.
#pragma once

#include <span>
#include <vector>

#include "ring/schemes/circle.h"
#include "ring/schemes/option_reader.h"

namespace cleave::ring {

// A point for each token of the nodes, by value. Refuses what is malformed, no such number, there
// twice or given to two, a node without a token, and a weight other than 1: how much a node owns is
// what its tokens say. Then the points do not matter. Requires: the option is given. Cost: O(text
// log tokens).
std::vector<CirclePoint> token_points(OptionReader& options, std::span<const PlacedNode> nodes);

}  // namespace cleave::ring
