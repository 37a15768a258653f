// Strays: keys at a node that the ring does not look for there. No client reads them through a
// router, and no move takes them along: data of before the pool, of a writer who bypasses the
// routers, or of a script that made up a key's name.
//
// Threads: any.
#pragma once

#include "base/ids.h"
#include "ring/view/view.h"

namespace cleave::ring {

// Whether a key of this token is a stray at the node by this view: the node does not own it, no
// move under way to or from the node has its range, and no entry of the leftovers says that a copy
// of cleave's own may lie there. Cost: O(1) expected where the node owns it; else O(moves and
// entries).
bool is_stray(const RingView& view, NodeId node, Token token);

}  // namespace cleave::ring
