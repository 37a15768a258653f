// restored: a saved document on its way back into a coordinator that has lost it.
//
// Pure. Threads: values.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// How a saved document comes back after the coordinator has lost it.
struct Restoration {
  std::string pool;  // its name from now on
  Epoch above;       // every number that was ever given lies below; so does its own
  UnixMillis now;
};

// The saved document as it may be believed, to begin a register with: nobody is a member, nobody
// leads, no move is under way (owners stay as saved), and the pool is frozen until a person has
// looked. It may be older than what was lost, so nothing that it says of copies is acted on: its
// leftovers, and the places where a move that was under way may have written, are kept for a person
// to decide. Only those that were kept before can still be taken back: of all others nobody knows
// whether the holder has lost anything. Errors: kInvalid.
Result<Document> restored(const Document& saved, const Restoration& restoration);

}  // namespace cleave::ring
