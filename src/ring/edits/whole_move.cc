#include "ring/edits/whole_move.h"

#include "base/check.h"
#include "ring/edits/edits.h"

namespace cleave::ring {

Result<Document> complete_move(const Document& document, MoveId move, UnixMillis now) {
  const Move* begun = find_move(document, move);
  CHECK(begun != nullptr);
  const Holder holder{.incarnation = {.run_id = "none", .replication_id = "none"}};
  const auto last = [move](const Document& at) {
    const Leftover* entry = find_leftover(at, move);
    CHECK(entry != nullptr);  // a commit makes one
    return *entry;
  };
  Result<Document> next = enter_copies(document, move, begun->phase_epoch, now);
  if (next) next = fence_move(*next, move, begun->phase_epoch);
  if (next) next = commit_move(*next, move, next->epoch, holder, now);
  if (next) next = begin_cleaning(*next, last(*next));
  if (next) next = drop_leftover(*next, last(*next));
  return next;
}

}  // namespace cleave::ring
