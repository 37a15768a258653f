// What was moved, and the move that takes it back: of this router's own time as the leader, and by
// the decisions of the leaders before it (admin/past_decisions.h, history/store.h).
//
// Pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "admin/past_decisions.h"
#include "admin/render.h"
#include "ring/edits/edits.h"

namespace cleave::admin {

// A move that was committed.
struct CommittedMove {
  MoveId id;
  std::string source;  // names of nodes
  std::string destination;
  ring::RangeSet ranges;
};

// Which one a person means: that of this id, or the newest that moved all of these.
using Meant = std::variant<MoveId, ring::RangeSet>;

// Errors: nullopt, none is known.
std::optional<CommittedMove> find_committed(const control::Status& status,
                                            const PastDecisions* past, const Meant& meant);
// Among decisions as /decisions tells them.
std::optional<CommittedMove> find_committed(const Json& decisions, const Meant& meant);

// "no committed move 4 is known".
Error no_committed(const Meant& meant);

// An ordinary move back of what the destination still owns.
struct WayBack {
  ring::MoveRequest request;
  bool whole = true;  // false: a part has another owner since, and stays there
};

// Errors: kConflict where a node is gone, or the destination owns none of it any more.
Result<WayBack> way_back(const CommittedMove& move, const ring::RingView& view, UnixMillis now);

// Adds moves that ended before this router led to those of `render_moves`, newest first. What
// their decisions do not tell is left out.
void add_past_moves(Json& moves, const PastDecisions& past);

}  // namespace cleave::admin
