#include "ring/edits/restored.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "ring/edits/move_steps.h"

namespace cleave::ring {
namespace {

constexpr const char* kWhyLeft =
    "the ring was restored from a saved one: these copies may be cleaned already, and the range "
    "may "
    "have moved here since";
constexpr const char* kWhyMove =
    "the ring was restored from a saved one, in which a move was under way: its copies may lie "
    "here, or it was committed afterwards and this is all that is left";

Leftover kept(const Leftover& saved) {
  if (saved.kept()) return saved;
  Leftover entry{
      .move = saved.move, .node = saved.node, .ranges = saved.ranges, .since = saved.since};
  entry.state =
      saved.state == LeftoverState::kBegun ? LeftoverState::kKeptBegun : LeftoverState::kKept;
  entry.server = saved.server;
  entry.why = kWhyLeft;
  return entry;
}

std::vector<Leftover> kept_leftovers(const Document& saved, UnixMillis now) {
  std::vector<Leftover> all;
  all.reserve(saved.leftovers.size() + saved.moves.size());
  for (const Leftover& each : saved.leftovers) all.push_back(kept(each));
  for (const Move& move : saved.moves) {
    // What a taking back would write is nothing; its entry is among those above.
    if (move.takes_back != MoveId{}) continue;
    const auto entered = std::ranges::find(all, move.id, &Leftover::move);
    if (entered != all.end()) {
      entered->why = kWhyMove;
      continue;
    }
    const NodeId node = move.phase == Phase::kClean ? move.source : move.destination;
    Leftover entry{.move = move.id, .node = node, .ranges = move.ranges, .since = now};
    entry.state = LeftoverState::kKept;
    entry.why = kWhyMove;
    insert(all, std::move(entry));
  }
  return all;
}

}  // namespace

Result<Document> restored(const Document& saved, const Restoration& restoration) {
  // Field by field: what is not named here is not believed unseen.
  Document document;
  document.epoch = Epoch{std::max(saved.epoch, restoration.above).value() + 1};
  document.pool = restoration.pool;
  document.mark = saved.mark;
  document.scheme = saved.scheme;
  document.nodes = saved.nodes;
  document.next_node = saved.next_node;
  document.cuts = saved.cuts;
  document.leader.term = saved.leader.term;
  document.mode = saved.mode;
  document.frozen = true;
  document.expected = saved.expected;
  document.leftovers = kept_leftovers(saved, restoration.now);
  CHECK(std::ranges::all_of(document.leftovers, &Leftover::kept));  // nothing is acted on
  if (const Result<void> valid = validate(document); !valid) return fail("restore", valid.error());
  return document;
}

}  // namespace cleave::ring
