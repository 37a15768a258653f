#include "ring/edits/give_up.h"

#include <algorithm>

#include "base/check.h"
#include "ring/edits/edits.h"

namespace cleave::ring {

Result<Document> release_copies(const Document& document, const Leftover& seen) {
  Result<Document> released = release_leftover(document, seen);
  if (!released) return released;
  const auto entry = std::ranges::find(released->leftovers, seen.move, &Leftover::move);
  CHECK(entry != released->leftovers.end());
  entry->why = seen.why.empty() ? "kept before" : seen.why;
  return released;
}

bool spares_last_copies(const Leftover& entry) { return !entry.kept() && !entry.why.empty(); }

}  // namespace cleave::ring
