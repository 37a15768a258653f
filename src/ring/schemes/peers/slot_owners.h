// The option `slots` of the peers that keep as state who owns which slot. For the files of this
// folder.
//
//   slots  = part { ";" part }            a=0-511,700;b=512-699,701-1023
//   part   = node "=" [ range { "," range } ]    (ring/schemes/peers/owner_lists.h)
//   range  = number [ "-" number ]        decimal, both ends inside, the first not above the last
//
// Slots that the text gives to nobody, or to a node that is not there (it left), are spread evenly
// over the nodes by weight, in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ring/schemes/option_reader.h"

namespace cleave::ring {

// The index of the owner of each of `count` slots. Refuses what is malformed, out of range, there
// twice or given to two; then the table does not matter. Requires: nodes, count > 0. Cost: O(text
// log nodes + count).
std::vector<std::uint32_t> slot_owners(OptionReader& options, std::span<const PlacedNode> nodes,
                                       std::uint32_t count);

}  // namespace cleave::ring
