// The one more edit (ring/edits/edits.h) that takes a drain back.
//
// Pure. Threads: values.
#pragma once

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// The node is in the base again. What it gave away meanwhile comes back as what a new node gets;
// what it still has it keeps. Conflict for a node that does not drain.
Result<Document> undrain_node(const Document& document, NodeId node, UnixMillis now);

}  // namespace cleave::ring
