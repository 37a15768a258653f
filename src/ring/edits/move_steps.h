// Steps that the edits of moves and of leftovers share (ring/edits/edits.h). For the files of this
// folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "ring/document/document.h"
#include "ring/view/view.h"

namespace cleave::ring {

// Rule 4: an order counts only in the phase epoch that it was given for, "at least" is not enough.
// The place of the move in `document.moves`.
Result<std::size_t> find_in_phase(const Document& document, MoveId id, Epoch phase_epoch);
// As above, and in that phase.
Result<std::size_t> find_in_phase(const Document& document, MoveId id, Epoch phase_epoch,
                                  Phase phase);

// kConflict, with `what`, where a move in flight holds some of the tokens.
Result<void> check_free(const Document& document, const RangeSet& ranges, const std::string& what);

// Gives the move's ranges to its destination: by the base alone where that says so.
void give_ranges(Document& document, const Move& move, UnixMillis now, UnixMillis pinned_until);

// In its place. Requires: no entry of that move is there.
void insert(std::vector<Leftover>& leftovers, Leftover leftover);

}  // namespace cleave::ring
