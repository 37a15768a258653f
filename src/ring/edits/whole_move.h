// The rest of a move at once: copies entered, fenced, committed, its leftover cleaned. For pools
// without real servers (rehearsals, tests), where nothing can happen in between.
//
// Pure. Threads: values. Cost: that of the edits.
#pragma once

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// Requires: the move is COPYING. The epoch rises by five. Errors: those of the edits.
Result<Document> complete_move(const Document& document, MoveId move, UnixMillis now);

}  // namespace cleave::ring
