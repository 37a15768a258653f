// Steps that several edits share (ring/edits/edits.h). For the files of this folder.
#pragma once

#include <expected>
#include <string>

#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// The document with its epoch raised by one, and without the old phase CLEAN once every router
// knows leftovers (rule 21): the places of moves may have changed.
Document advanced(const Document& document);

// Rules 2 and 3: every move in COPYING or FENCED is gone, its source owns the ranges as before.
void abort_unfinished(Document& document);

// Gives every token whose owner in `after` would differ from that in `before`, because the base
// changed, a cut that keeps its old owner. Requires: `after` has the cuts of `before`; both valid.
void keep_owners(const Document& before, Document& after, const std::string& reason,
                 UnixMillis now);

// For edits that cut, move, or change the base: kConflict, with `what`, where the scheme's tokens
// depend on the nodes.
Result<void> check_cuttable(const Document& document, const std::string& what);

// Something else than the edit expected is there already, or no longer.
inline std::unexpected<Error> conflict(const std::string& what) {
  return fail(Code::kConflict, what);
}

// "node 'a'", or "node 7" when there is none of that id.
std::string describe(const Document& document, NodeId node);

}  // namespace cleave::ring
