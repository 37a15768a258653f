// Heavy tokens that share a node: which of them should go to another one, although nobody has room
// for it.
//
//   node 1  [##### hot ][##### hot ][ many light ones ]     3.8 of a fair load
//   node 2  [ many light ones ]                              0.6
//
// Pieces are sized by what the destination has room for, so as to end below the mean; a heavy token
// fits nowhere then, and giving away all the light ones around it does not help. But two of them
// need not be neighbours: one moves, the higher of the two nodes ends lower than before, and both
// give light ones away afterwards. One key instead of hundreds.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "balance/steps/goal.h"

namespace cleave::balance {

// A token that should leave its node, and where to.
struct Parting {
  Token token = {};
  std::uint64_t load = 0;
  NodeId target = {};
};

// What is asked for.
enum class PartingFor : std::uint8_t {
  kNeed,  // without it the heavy tokens of the source alone would keep it too high
  kGain,  // it saves light keys from being moved
};

// What to part, and what is known.
struct PartingTask {
  const Board& board;
  const Calm& calm;
  const Goal& goal;
  const std::vector<HeavyToken>& heavy;  // of all nodes, as the board has them
  PartingFor why = PartingFor::kNeed;
};

// The best parting for the source among the targets: the least that the heavy tokens of either node
// keep it at; then the least load that both have too much; then the lower of the higher levels.
// nullopt when none lowers what is unavoidable by a tenth (kNeed), or finds a place for a quarter
// of the token (kGain); when the higher of the two nodes would not end lower by a quarter of it; or
// when every heavy token must stay for now. Cost: O(targets x heavy tokens).
std::optional<Parting> choose_parting(const PartingTask& task, const BoardNode& source,
                                      const std::vector<NodeId>& targets);

}  // namespace cleave::balance
