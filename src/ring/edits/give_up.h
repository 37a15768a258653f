// Edit of the leftovers for a person who gives up what a kept entry keeps, and still wants no last
// copy of a key deleted: the saved ring that made the entry may not know that its move was
// committed (docs/formats/move-protocol.md, "What the models do not have").
//
// Pure. Threads: values.
#pragma once

#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// Like release_leftover (edits.h), but keys that their owner does not have are to stay. The
// entry remembers that by keeping its reason, which no other entry to be cleaned has.
Result<Document> release_copies(const Document& document, const Leftover& seen);

// Whether that was said of an entry.
bool spares_last_copies(const Leftover& entry);

}  // namespace cleave::ring
