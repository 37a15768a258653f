// Leveller: what moves for load (balance/steps/heat_moves.h) and moves for bytes
// (balance/steps/memory_moves.h) have in common: which of its tokens a node may give to whom, how
// many keys and cuts the plan may still spend, and what is said when one of these is why nothing
// moves.
//
// For the files of this folder. Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"

namespace cleave::balance {

// A part of one of a node's ranges that it may give.
struct Offer {
  const BoardRange* of = nullptr;  // until the next move
  ring::TokenRange range;
};

class Leveller {
 protected:
  Leveller(Board& board, const Calm& calm, Plan& plan);

  // Without what is in flight, was put there just now, or left the target not long ago. In token
  // order.
  std::vector<Offer> offers(const BoardNode& source, const BoardNode& target) const;
  // What the node owns and no move holds.
  ring::RangeSet own_ranges(const BoardNode& source) const;

  // Of a plan's budget, divided, and of an hour's of so much of all keys.
  std::uint64_t keys_left(std::uint32_t hour_ppm, std::uint32_t divisor = 1) const;

  // Into the plan, and on the board.
  void take(PlannedMove move, std::vector<Alternative> passed_over);
  void spend_cuts(std::uint64_t cuts);

  // Each sets the reason of a verdict and when it may change, and answers the words for it.
  static std::string vetoed(const BoardNode& source, Verdict& verdict);
  static std::string no_cuts(Verdict& verdict);
  // Until so many keys may be moved again.
  std::string no_keys(std::uint64_t wanted, std::uint32_t hour_ppm, Verdict& verdict) const;
  std::string dwells(const BoardNode& source, Verdict& verdict) const;

  Board& board_;
  const Calm& calm_;
  Plan& plan_;
  const Constants& constants_;
  std::uint64_t keys_used_ = 0;  // by moves that nobody ordered
  std::uint32_t cuts_left_;      // that the document may grow by
};

}  // namespace cleave::balance
