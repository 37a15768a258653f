// Whom a node could give load to, lowest level first, and why the others are out.
//
// For the files of this folder. Pure. Threads: one owner.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "balance/steps/parts.h"
#include "base/rng.h"

namespace cleave::balance {

// For one source.
struct Candidates {
  std::vector<NodeId> nodes = {};          // in the order in which to try them
  std::vector<Alternative> rejected = {};  // below the source's level, but out; a few of them
  UnixMillis pair_rests_until = {};        // the first end of a rest after aborted moves; 0 = none
};

class Targets {
 public:
  Targets(const Board& board, const Calm& calm);

  // Nodes below the source's level that may take something of it. Those close to the lowest come in
  // random order, so that several planners or a wrong estimate do not all pick the same one. Cost:
  // O(constants.targets_max x log nodes), and the nodes passed over for their racks.
  Candidates of(const BoardNode& source, Rng& rng) const;

  // Whether the node, however hot, may take something of the source. Cost: O(racks).
  bool open_to(const BoardNode& source, const BoardNode& node) const;

  // The node as the board has it after a move.
  void update(NodeId id);

 private:
  using Place = std::pair<std::uint32_t, NodeId>;  // level

  void insert(const BoardNode& node);
  std::vector<Alternative> blocked_for(const BoardNode& source) const;

  const Board& board_;
  const Calm& calm_;
  std::set<Place> open_;
  std::set<Place> blocked_;
  std::vector<Place> places_;  // as inserted, in the order of the board's nodes
};

}  // namespace cleave::balance
