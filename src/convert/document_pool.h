// The pool of a ring document, as another proxy would know it: for the way back.
//
// Pure. Threads: any.
#pragma once

#include "convert/pool.h"
#include "ring/document.h"

namespace cleave::convert {

// Active nodes in the order of their ids, and the scheme; cuts, moves and nodes that drain have no
// counterpart (check_exportable in export.h). Not known here: listener, kind, passwords.
Pool pool_of(const ring::Document& document);

}  // namespace cleave::convert
