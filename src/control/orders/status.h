// What is told of a router and of its pool: to a person, to monitoring, to the history.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/ring_note.h"
#include "balance/plan/plan.h"
#include "base/clock.h"
#include "base/ids.h"
#include "control/orders/coordinator_state.h"
#include "control/orders/stray_count.h"
#include "heat/picture.h"
#include "ring/document/document.h"
#include "ring/document/scheme_search.h"
#include "ring/view/view.h"

namespace cleave::control {

// A move under way as its driver sees it.
struct MoveStatus {
  ring::Move move;
  std::string step;       // "scan", "rounds", "fenced", ... (migrate/migration.h)
  std::string waits_for;  // what it waits for now; empty when it works
  std::uint64_t keys_copied = 0;
  std::uint64_t bytes_copied = 0;
  std::uint64_t rounds = 0;
};

// An entry of the document's leftovers, and how far its cleaning is (migrate/cleaning.h).
struct LeftoverStatus {
  ring::Leftover entry;
  std::string step;  // "pages", "waiting", ...; of others than the leader only "open", "kept"
  std::string waits_for = {};  // why it cannot go on now; empty when it works
  std::uint64_t deleted = 0;
  std::uint64_t unknown = 0;  // of these, those that the owner does not have (rule 25)
  std::uint64_t spared = 0;   // not deleted, because the owner does not have them
  // What keeps it from being cleaned, through all tries, and for how long; empty: nothing does.
  std::string stuck = {};
  milliseconds stuck_for{0};
};

// kRefused: it never began, and has no id.
enum class MoveEnd : std::uint8_t { kCommitted, kAborted, kRefused };

// A move that is over. Kept in memory, the newest 1,000.
struct MoveRecord {
  ring::Move move;
  MoveEnd end = MoveEnd::kAborted;
  std::string why;  // of an abort or a refusal
  std::uint64_t keys_copied = 0;
  std::uint64_t bytes_copied = 0;
  milliseconds took{0};
  milliseconds committed{0};  // from its begin until the destination owned it; 0: it never did
  microseconds fenced{0};     // from the FENCED to the COMMIT compare-and-set
  UnixMillis ended;
};

// A node that a decision passed over.
struct PassedOver {
  std::string node;  // its name
  std::string why;   // for people: "it lacks memory"

  friend bool operator==(const PassedOver&, const PassedOver&) = default;
};

// What a decision moves, or moved.
struct DecidedMove {
  MoveId id;                // none before it has begun
  std::string source;       // names of nodes
  std::string destination;  // likewise
  ring::RangeSet ranges = {};
  std::uint64_t keys = 0;  // expected, or copied where it is over; 0: not known
  std::uint64_t bytes = 0;
  // Of the two nodes, as planned, in nanoseconds of server time a second; all 0: not known.
  std::uint64_t source_before = 0;
  std::uint64_t source_after = 0;
  std::uint64_t destination_before = 0;
  std::uint64_t destination_after = 0;

  friend bool operator==(const DecidedMove&, const DecidedMove&) = default;
};

// A decision of the balancer or of a person, for `explain`.
struct DecisionRecord {
  UnixMillis at;
  std::string kind;       // "move", "merge", "nothing", "order", "unsplittable", "advice", ...
  std::string subject;    // range, node or key
  std::string reason;     // why, with the numbers
  std::string predicted;  // gain expected; empty where none
  std::string real;       // gain seen; empty until known
  std::vector<PassedOver> passed_over = {};  // destinations that it could not take
  UnixMillis until = {};                     // when it may be otherwise; 0 = not known
  std::optional<DecidedMove> move = {};      // where it is about one

  friend bool operator==(const DecisionRecord&, const DecisionRecord&) = default;
};

// What walks over a node's keys met of strays (ring/view/stray.h).
struct StrayFacts {
  bool known = false;  // some keys were looked at
  StrayCount count;
  UnixMillis since = {};       // when the first of those that are there was met; 0: there are none
  bool since_exact = false;    // there were none before; else this leader found them there
  std::uint64_t accepted = 0;  // so many a person knows of
  UnixMillis grew = {};  // when more than those were last seen to become more; 0: they did not
};

// Keys in a database that no client reaches through a router.
struct OtherDatabase {
  std::uint32_t number = 0;  // 1 or more
  std::uint64_t keys = 0;

  friend bool operator==(const OtherDatabase&, const OtherDatabase&) = default;
};

// How often a server ran scripts or functions by a command that may write (info_facts.h).
struct ScriptCalls {
  std::string command;  // "eval", "evalsha", "fcall"
  std::uint64_t calls = 0;

  friend bool operator==(const ScriptCalls&, const ScriptCalls&) = default;
};

// A server as the driver's side last saw it.
struct NodeFacts {
  NodeId node;
  bool reachable = false;
  std::string error;  // why not
  Incarnation incarnation;
  bool primary = true;          // else a replica, which takes no writes
  bool marked = false;          // carries this pool's ownership marker
  std::string foreign_mark;     // the marker of another pool, where it carries one
  backend::RingNote note = {};  // what it knows of its ring
  std::uint64_t keys = 0;       // without copies
  std::uint64_t copies = 0;     // of moves, as far as known: keys that it does not own (any more)
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_max = 0;  // 0 = no limit set
  std::string eviction_policy;         // what it does when that is reached; empty: not known
  std::uint64_t commands = 0;          // total_commands_processed
  std::string version;
  std::uint16_t rdb_version = 0;  // of the values that it writes; 0 = not known
  // What its server said when it was last to give or to take keys, while it rests for it.
  std::string refuses = {};
  // What reached it past the routers, a second, in the last interval that could be judged.
  std::uint64_t unattributed_requests = 0;
  std::uint64_t unattributed_writes = 0;
  // It was written to so lately that no planned move touches it.
  bool foreign_writes = false;
  StrayFacts strays = {};
  std::vector<OtherDatabase> databases = {};
  std::vector<ScriptCalls> scripts = {};  // since its start, or CONFIG RESETSTAT
};

// One router of the pool as the leader last heard of it.
struct RouterStatus {
  SessionId session;
  std::string peer;  // where it is asked
  bool leader = false;
  Epoch view;                         // what it serves by; 0: it has not answered yet
  std::optional<milliseconds> heard;  // how long ago it answered; only the leader knows
};

// Of this router's time as the leader; without moves that never began.
struct MoveTotals {
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t keys = 0;   // copied by those that are over
  std::uint64_t bytes = 0;  // likewise
};

// Everything that a person may want to know of one router.
struct Status {
  ring::RingSnapshot view;  // nullptr before the first read
  SessionId session;
  bool leader = false;
  Term term;
  std::string coordinator;  // "ok", or what is wrong with it
  CoordinatorState coordinator_state = CoordinatorState::kOk;
  std::vector<RouterStatus> routers;
  std::vector<MoveStatus> moves;  // as their driver sees them, or only what the document says
  std::vector<LeftoverStatus> leftovers{};
  std::vector<MoveRecord> ended;          // newest first
  MoveTotals totals = {};                 // of all moves that it has driven
  std::vector<DecisionRecord> decisions;  // newest first
  std::vector<NodeFacts> nodes;           // while this router leads
  // Likewise: a known scheme that fits the keys far better, where the pool's own does not.
  std::optional<ring::SchemeFit> fits = {};
  std::shared_ptr<const heat::Picture> heat;  // likewise; nullptr before the first tick
  std::shared_ptr<const balance::Plan> plan;  // likewise
  std::string plan_id;                        // of its moves and merges; empty: it has none
  // Why there is no view although the coordinator answers (first_ring.h); empty: there is.
  std::string held = {};
};

// Who is told, as things happen.
struct TellOptions {
  // One line for a person's log.
  std::function<void(const std::string&)> log;
  // Each new decision, for the history. May be empty.
  std::function<void(const DecisionRecord&)> decided;
};

}  // namespace cleave::control
