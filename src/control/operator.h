// Operator: what a person (through the CLI or the admin API) may ask and order.
//
// Orders are answered when the document says so, not when the work is done: a move is answered with
// its id when it has begun. Every order is refused with a reason a person can act on.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/plan.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "control/presplit.h"
#include "heat/picture.h"
#include "ring/document.h"
#include "ring/edits.h"
#include "ring/view.h"

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

enum class MoveEnd : std::uint8_t { kCommitted, kAborted };

// A move that is over. Kept in memory, the newest 1,000.
struct MoveRecord {
  ring::Move move;
  MoveEnd end = MoveEnd::kAborted;
  std::string why;  // of an abort
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

// A decision of the balancer or of a person, for `explain`.
struct Decision {
  UnixMillis at;
  std::string kind;       // "move", "merge", "nothing", "order", "unsplittable", "advice", ...
  std::string subject;    // range, node or key
  std::string reason;     // why, with the numbers
  std::string predicted;  // gain expected; empty where none
  std::string real;       // gain seen; empty until known
  std::vector<PassedOver> passed_over = {};  // destinations that it could not take
  UnixMillis until = {};                     // when it may be otherwise; 0 = not known
};

// A server as the driver's side last saw it.
struct NodeFacts {
  NodeId node;
  bool reachable = false;
  std::string error;  // why not
  Incarnation incarnation;
  bool marked = false;       // carries this pool's ownership marker
  std::string foreign_mark;  // the marker of another pool, where it carries one
  std::uint64_t keys = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_max = 0;  // 0 = no limit set
  std::uint64_t commands = 0;          // total_commands_processed
  std::string version;
  // What reached it past the routers, a second, in the last interval that could be judged.
  std::uint64_t unattributed_requests = 0;
  std::uint64_t unattributed_writes = 0;
  // It was written to so lately that no planned move touches it.
  bool foreign_writes = false;
};

// One router of the pool as the leader last heard of it.
struct RouterStatus {
  SessionId session;
  std::string peer;  // where it is asked
  bool leader = false;
  Epoch view;                         // what it serves by; 0: it has not answered yet
  std::optional<milliseconds> heard;  // how long ago it answered; only the leader knows
};

// Everything that a person may want to know of one router.
struct Status {
  ring::RingSnapshot view;  // nullptr before the first read
  SessionId session;
  bool leader = false;
  Term term;
  std::string coordinator;  // "ok", or what is wrong with it
  std::vector<RouterStatus> routers;
  std::vector<MoveStatus> moves;    // as their driver sees them, or only what the document says
  std::vector<MoveRecord> ended;    // newest first
  std::vector<Decision> decisions;  // newest first
  std::vector<NodeFacts> nodes;     // while this router leads
  std::shared_ptr<const heat::Picture> heat;  // likewise; nullptr before the first tick
  std::shared_ptr<const balance::Plan> plan;  // likewise
};

// A boundary that somebody wants, behind the token.
struct CutOrder {
  Token at = {};
  std::string reason = {};
  UnixMillis pinned_until = {};  // not merged before; 0 = not pinned
};

class Operator {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  virtual ~Operator() = default;

  virtual Status status() const = 0;

  virtual void move(ring::MoveRequest request, Done<MoveId> done) = 0;
  virtual void abort(MoveId move, Done<void> done) = 0;
  // A move back of an ended, committed move.
  virtual void undo(MoveId move, Done<MoveId> done) = 0;
  // A boundary at the token: the range that ends there becomes a cut of its present owner.
  virtual void cut(CutOrder order, Done<void> done) = 0;
  virtual void merge(ring::TokenRange range, Done<void> done) = 0;
  virtual void freeze(bool frozen, Done<void> done) = 0;
  virtual void set_mode(ring::Mode mode, Done<void> done) = 0;
  // Mode approve: begins what the last plan proposed. Answers how many moves were begun.
  virtual void approve(Done<std::uint64_t> done) = 0;
  virtual void add_node(ring::Node node, Done<NodeId> done) = 0;
  virtual void drain_node(NodeId node, Done<void> done) = 0;
  virtual void remove_node(NodeId node, Done<void> done) = 0;
  // Announces load that will come, and answers what is done for it. Errors also: kConflict when the
  // pool is too small for it (unless forced).
  virtual void presplit(PresplitOrder order, Done<Presplit> done) = 0;
  // Takes an event back.
  virtual void forget(std::string event, Done<void> done) = 0;
  // Takes every cut back, live, by moves. Answers how many ranges must move.
  virtual void flatten(Done<std::uint64_t> done) = 0;
  // What `adopt` would mark: the servers with what is on them. Writes nothing.
  virtual void survey(Done<std::vector<NodeFacts>> done) = 0;
  // Writes this pool's ownership marker on the servers that carry none. Refused for a server that
  // carries another pool's.
  virtual void adopt(std::vector<NodeId> nodes, Done<void> done) = 0;
};

}  // namespace cleave::control
