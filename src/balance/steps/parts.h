// What a node owns, divided as the base divides it, and moves made of such parts. For the files of
// this folder. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balance/plan/plan.h"
#include "balance/steps/board.h"

namespace cleave::balance {

// A part of a node's ranges that the base gives to one node.
struct Part {
  ring::TokenRange range;
  NodeId base_owner;
  std::uint64_t load = 0;
  const BoardRange* of = nullptr;  // the board's range that it lies in; until the next move
};

// What the source owns and nothing touches yet, in token order.
std::vector<Part> parts_of(const Board& board, NodeId source);

// Whether a server of version `target` reads values that one of version `source` writes: its own
// and older ones. Valkey's numbers begin at 80, and it takes none between 12 and 79, which are
// Redis's alone. 0: not known, and taken to fit; the move's own preflight asks the servers.
bool rdb_fits(std::uint16_t source, std::uint16_t target);

// Why the target must not hold what the source holds: it could not read it, or it would lose a
// replica or a failure domain. "" = it may.
std::string placement_veto(const BoardNode& source, const BoardNode& target);

bool free_source(const BoardNode& node, const Constants& constants);
bool free_target(const BoardNode& node, const Constants& constants);

// How many keys one plan may move by the balancer's own will.
std::uint64_t keys_a_plan(const Board& board);

// Load that the node can take before it is full by constants.fill_ppm.
std::uint64_t room_of(const BoardNode& node, const Constants& constants);

// What changes place.
struct Cargo {
  std::vector<ring::TokenRange> ranges = {};  // in any order
  std::uint64_t load = 0;                     // nanoseconds a second
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
};

// All but the reason.
PlannedMove move_of(const BoardNode& source, const BoardNode& target, Cargo cargo, Cause cause);

// Likewise. Requires: parts of the source, not empty.
PlannedMove move_of_parts(const Board& board, const BoardNode& source, const BoardNode& target,
                          const std::vector<Part>& parts, Cause cause);

bool fits_memory(const BoardNode& target, const PlannedMove& move, const Constants& constants);

// "3 ranges, about 120 keys (18.0 kB)".
std::string pieces_text(const PlannedMove& move);

// Into the plan, and on the board.
void carry_out(Board& board, Plan& plan, PlannedMove move);

}  // namespace cleave::balance
