// What a Migration writes while the simulator has switched off a rule of the leftovers
// (base/mutation.h). Never runs in production.
#include <algorithm>
#include <optional>
#include <utility>

#include "migrate/migration.h"

namespace cleave::migrate {
namespace {

using Edited = Result<ring::Document>;

// The document without entries at that node.
ring::Document without_entries_at(const ring::Document& document, NodeId node) {
  ring::Document bare = document;
  std::erase_if(bare.leftovers, [&](const ring::Leftover& each) { return each.node == node; });
  return bare;
}

// With the entries of `before` that are missing.
Edited with_entries(Edited edited, const std::vector<ring::Leftover>& before) {
  if (!edited) return edited;
  for (const ring::Leftover& entry : before) {
    if (ring::find_leftover(*edited, entry.move) == nullptr) edited->leftovers.push_back(entry);
  }
  std::ranges::sort(edited->leftovers, {}, &ring::Leftover::move);
  return edited;
}

Edited without_entry(Edited edited, MoveId move) {
  if (edited) {
    std::erase_if(edited->leftovers, [&](const ring::Leftover& each) { return each.move == move; });
  }
  return edited;
}

}  // namespace

std::optional<Edited> Migration::mutated_edit(Change change, const ring::Document& document,
                                              UnixMillis now) const {
  const Mutations& off = options_.mutations;
  if (change == Change::kBegin && off.begin_over_leftovers && !takes_back_) {
    return with_entries(true_edit(change, without_entries_at(document, request_.destination), now),
                        document.leftovers);
  }
  if (change == Change::kBegin && off.take_back_no_fence && takes_back_) {
    const Edited begun = true_edit(change, document, now);
    if (!begun) return begun;
    const ring::Move& move = begun->moves.back();
    Edited taken = ring::take_back(*begun, move.id, move.phase_epoch, *takes_back_, now);
    if (taken) taken->epoch = begun->epoch;
    return taken;
  }
  if (change == Change::kAbort && off.abort_drops_entry)
    return without_entry(true_edit(change, document, now), id_);
  if (change != Change::kCommit) return std::nullopt;
  if (takes_back_ && off.take_back_no_entry)
    return without_entry(true_edit(change, document, now), id_);
  if (takes_back_ && off.take_back_keeps_entry) {
    ring::Leftover open = *takes_back_;
    open = {.move = open.move, .node = open.node, .ranges = open.ranges, .since = open.since};
    return with_entries(true_edit(change, document, now), {open});
  }
  if (!takes_back_ && off.commit_no_entry)
    return without_entry(true_edit(change, document, now), id_);
  if (!takes_back_ && off.commit_keeps_entry) {
    const ring::Leftover* mine = ring::find_leftover(document, id_);
    if (mine == nullptr) return std::nullopt;
    return with_entries(without_entry(true_edit(change, document, now), id_), {*mine});
  }
  return std::nullopt;
}

}  // namespace cleave::migrate
