// Edits of the leftovers: cleaning, keeping, taking back (ring/edits/edits.h; rules 23 and 26).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"
#include "ring/edits/move_steps.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

std::string name_of(const Leftover& leftover) {
  return "leftover of move " + std::to_string(leftover.move.value());
}

// The entry is exactly as it was read and nobody's copies any more.
Result<void> check_seen(const Document& document, const Leftover& seen) {
  const Leftover* found = find_leftover(document, seen.move);
  if (found == nullptr) return conflict(name_of(seen) + " is gone");
  if (*found != seen) return conflict(name_of(seen) + " has changed since it was read");
  if (in_use(document, seen)) return conflict(name_of(seen) + ": the move is under way");
  return {};
}

Leftover& entry_of(Document& document, const Leftover& seen) {
  const auto found = std::ranges::find(document.leftovers, seen.move, &Leftover::move);
  CHECK(found != document.leftovers.end());
  return *found;
}

LeftoverState kept_from(LeftoverState state) {
  return state == LeftoverState::kBegun ? LeftoverState::kKeptBegun : LeftoverState::kKept;
}

void erase(Document& document, const Leftover& seen) {
  std::erase_if(document.leftovers, [&](const Leftover& each) { return each.move == seen.move; });
}

// What of the entry the holder still owns: the rest was moved on, or given to another.
RangeSet still_held(const Document& document, const Leftover& leftover) {
  std::vector<TokenRange> held;
  for (const Arc& arc : owners(document)) {
    if (arc.node != leftover.holder) continue;
    for (const TokenRange& range : leftover.ranges) {
      const TokenRange shared{std::max(arc.range.first, range.first),
                              std::min(arc.range.last, range.last)};
      if (shared.first <= shared.last) held.push_back(shared);
    }
  }
  return normalised(std::move(held));
}

}  // namespace

Result<Document> begin_cleaning(const Document& document, const Leftover& seen) {
  if (const auto good = check_seen(document, seen); !good) return std::unexpected(good.error());
  if (seen.holder == NodeId{}) return conflict(name_of(seen) + " has no holder");
  if (seen.kept()) return conflict(name_of(seen) + " is kept: only a person gives it up");
  if (seen.state == LeftoverState::kBegun) {
    return conflict(name_of(seen) + " is being cleaned already");
  }
  Document next = advanced(document);
  entry_of(next, seen).state = LeftoverState::kBegun;
  return next;
}

Result<Document> keep_leftover(const Document& document, const Leftover& seen, std::string why) {
  if (const auto good = check_seen(document, seen); !good) return std::unexpected(good.error());
  if (seen.kept()) return conflict(name_of(seen) + " is kept already");
  Document next = advanced(document);
  Leftover& entry = entry_of(next, seen);
  entry.state = kept_from(seen.state);
  entry.why = std::move(why);
  return next;
}

Result<Document> drop_leftover(const Document& document, const Leftover& seen) {
  if (const auto good = check_seen(document, seen); !good) return std::unexpected(good.error());
  if (seen.kept()) return conflict(name_of(seen) + " is kept: only a person gives it up");
  if (seen.holder != NodeId{} && seen.state != LeftoverState::kBegun) {
    return conflict(name_of(seen) + ": its holder was not compared");
  }
  Document next = advanced(document);
  erase(next, seen);
  return next;
}

Result<Document> release_leftover(const Document& document, const Leftover& seen) {
  if (const auto good = check_seen(document, seen); !good) return std::unexpected(good.error());
  if (!seen.kept()) return conflict(name_of(seen) + " is not kept: it is cleaned without an order");
  for (const Move& move : document.moves) {
    if (move.takes_back == seen.move) {
      return conflict(name_of(seen) + " is being taken back by move " +
                      std::to_string(move.id.value()));
    }
  }
  Document next = advanced(document);
  entry_of(next, seen) = {
      .move = seen.move, .node = seen.node, .ranges = seen.ranges, .since = seen.since};
  return next;
}

Result<Document> forget_leftover(const Document& document, const Leftover& seen) {
  const Result<Document> released = release_leftover(document, seen);
  if (!released) return released;
  Document next = *released;
  erase(next, seen);
  return next;
}

Result<Document> begin_taking_back(const Document& document, const Leftover& seen, UnixMillis now) {
  if (const auto good = check_seen(document, seen); !good) return fail("take back", good.error());
  if (!seen.kept()) return conflict("take back: " + name_of(seen) + " is not kept");
  if (seen.holder == NodeId{}) {
    return conflict("take back: nobody knows who had all of " + name_of(seen) +
                    "; it can be cleaned, or forgotten");
  }
  if (document.frozen) return conflict("take back: the pool is frozen");
  const RangeSet ranges = still_held(document, seen);
  if (ranges.empty()) {
    return conflict("take back: " + describe(document, seen.holder) + " owns none of it any more");
  }
  if (const auto good = check_free(document, ranges, "take back"); !good) {
    return std::unexpected(good.error());
  }
  Document next = advanced(document);
  next.moves.push_back(
      {.id = MoveId{next.epoch.value()},
       .ranges = ranges,
       .source = seen.holder,
       .destination = seen.node,
       .phase = Phase::kFenced,
       .phase_epoch = next.epoch,
       .reason = "taken back: " + describe(document, seen.holder) + " lost what was moved to it",
       .started = now,
       .takes_back = seen.move});
  if (const Result<void> valid = validate(next); !valid) return fail("take back", valid.error());
  return next;
}

Result<Document> take_back(const Document& document, MoveId move, Epoch phase_epoch,
                           const Leftover& seen, UnixMillis now, const std::string& server) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kFenced);
  if (!index) return fail("take back", index.error());
  const Move& taken = document.moves[*index];
  if (taken.takes_back != seen.move || taken.destination != seen.node) {
    return conflict("take back: move " + std::to_string(move.value()) + " is not of that leftover");
  }
  if (const auto good = check_seen(document, seen); !good) return fail("take back", good.error());
  if (!seen.kept()) return conflict("take back: " + name_of(seen) + " is not kept");
  Document next = advanced(document);
  std::erase_if(next.moves, [&](const Move& each) { return each.id == move; });
  give_ranges(next, taken, now, {});
  Leftover& kept = entry_of(next, seen);
  kept.ranges = difference(kept.ranges, taken.ranges);
  if (kept.ranges.empty()) erase(next, seen);
  insert(
      next.leftovers,
      {.move = move, .node = taken.source, .ranges = taken.ranges, .since = now, .server = server});
  if (const Result<void> valid = validate(next); !valid) return fail("take back", valid.error());
  return next;
}

Result<Document> set_old_readers(const Document& document, bool allowed) {
  Document next = advanced(document);
  next.old_readers = allowed;
  return next;
}

}  // namespace cleave::ring
