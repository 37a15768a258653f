// The ring document: the coordinated, durable form of one pool's ring, and everything that routers
// must agree about. One linearizable register holds it; every change is a compare-and-set on its
// epoch (protocol rule 1).
//
// It stays small however large the ring: nodes, scheme, cuts, moves. The token -> node map itself
// is computed from it (ring/view/view.h). Text form: docs/formats/ring-document.md.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/scheme_spec.h"
#include "ring/token_range.h"

namespace cleave::ring {

// Bounds of what a document may hold.
inline constexpr std::uint64_t kNumberMax = (std::uint64_t{1} << 53U) - 1;  // exact in a double
inline constexpr std::uint32_t kWeightMax = 1'000;
inline constexpr std::uint64_t kWeightSumMax = 65'536;  // 8.4 million points: a second to build
inline constexpr std::size_t kOptionBytesMax = std::size_t{1} << 20U;     // the value of an option
inline constexpr std::size_t kExpectedLoadsMax = 10'000;                  // of all events
inline constexpr std::size_t kEventLoadsMax = 4'096;                      // of one event
inline constexpr std::uint64_t kExpectedLoadMax = 1'000'000'000'000'000;  // a million cores
inline constexpr std::size_t kTextBytesMax = std::size_t{64} << 20U;      // the text form
inline constexpr std::uint32_t kTextReader = 5;  // newest text form that `parse_document` reads

// One server process of a node; the first member of a node is its primary.
struct Member {
  std::string address;  // "host:port", as the routers connect to it; unique in the pool
  std::string rack;     // failure domain; empty = its own

  friend bool operator==(const Member&, const Member&) = default;
};

// Whether a node still takes part in the base.
enum class NodeState : std::uint8_t {
  kActive,    // in the base
  kDraining,  // out of the base; keeps what cuts still give it, until moves have taken that away
};

// One backend group.
struct Node {
  NodeId id;
  std::string name;          // unique
  std::uint32_t weight = 1;  // 1..1000: share of the base, and of capacity
  NodeState state = NodeState::kActive;
  std::vector<Member> members;  // at least one
  std::string hash_key = {};    // what the scheme hashes; empty: the name
  // How many keys a person knows to lie there where the ring does not look (ring/view/stray.h).
  std::uint64_t strays = 0;
  // It drains, and a person aborted a move of that: none begins before it is told to drain again.
  bool drain_held = false;

  friend bool operator==(const Node&, const Node&) = default;
};

// An explicit range laid over the base, with an owner of its own: a later change of the base
// cannot alter it.
struct Cut {
  TokenRange range;
  NodeId node;
  std::string reason;       // for people: why it was made
  UnixMillis created;       // for the calm rules (docs/ARCHITECTURE.md, "Balance")
  UnixMillis pinned_until;  // not merged before; 0 = not pinned

  friend bool operator==(const Cut&, const Cut&) = default;
};

// Phases of a move as the document knows them (protocol, "Document"). An aborted or committed move
// is simply not there; what it left behind is a Leftover.
enum class Phase : std::uint8_t {
  kCopying,
  kFenced,
  kClean,  // committed, by a leader of before format 5: its source is not cleaned yet
};

// A move in flight. Until it is committed the source owns its ranges.
struct Move {
  MoveId id;
  RangeSet ranges;
  NodeId source;
  NodeId destination;
  Phase phase = Phase::kCopying;
  Epoch phase_epoch;  // epoch of the compare-and-set that set the phase (rule 4)
  std::string reason;
  UnixMillis started;
  // The move whose kept leftover goes back to being the range (rule 26), fenced from the start and
  // without a copy; 0: an ordinary move.
  MoveId takes_back = {};

  friend bool operator==(const Move&, const Move&) = default;
};

// How far the cleaning of a leftover has come (rule 23).
enum class LeftoverState : std::uint8_t {
  kOpen,       // to be cleaned
  kBegun,      // its holder was compared and found whole: some keys may be gone already
  kKept,       // a person decides: this may be the only whole copy, or not be ours (Leftover::why)
  kKeptBegun,  // the same, found out when some keys were gone already
};

// An entry of the leftovers: copies of cleave's own may lie at `node` in `ranges`, which it does
// not own. Whoever leads cleans it, unless its move is still in flight (rules 13, 20 to 23).
struct Leftover {
  MoveId move;  // that made it; unique
  NodeId node;
  RangeSet ranges;
  UnixMillis since;
  // Of a committed move: who had everything then, in which life, after how many bytes of its
  // replication stream. Before anything is deleted it is compared with what is there (rule 23 e).
  NodeId holder = {};  // 0: of an aborted move, nothing to compare
  Incarnation incarnation = {};
  std::uint64_t offset = 0;  // 0: it had no replica
  LeftoverState state = LeftoverState::kOpen;
  // The id of the server that was the node's then (backend/ring_note.h): at another one nothing is
  // deleted. Empty: not known.
  std::string server = {};
  std::string why = {};  // for people: why it is kept

  bool kept() const { return state == LeftoverState::kKept || state == LeftoverState::kKeptBegun; }

  friend bool operator==(const Leftover&, const Leftover&) = default;
};

// Load that will come to a range (or to one token), all of it together.
struct ExpectedLoad {
  TokenRange range;
  std::uint64_t load = 0;  // nanoseconds of server time a second, 1..kExpectedLoadMax

  friend bool operator==(const ExpectedLoad&, const ExpectedLoad&) = default;
};

// A known event: load that a person announced (docs/balance.md, "Expected load"). From `lead_from`
// until `end` the balancer prepares as if the load were there.
struct ExpectedEvent {
  std::string name;           // unique
  UnixMillis lead_from = {};  // <= start
  UnixMillis start = {};      // < end
  UnixMillis end = {};
  std::vector<ExpectedLoad> loads;  // sorted, disjoint; 1..kEventLoadsMax

  friend bool operator==(const ExpectedEvent&, const ExpectedEvent&) = default;
};

// What the balancer may do without a person.
enum class Mode : std::uint8_t { kObserve, kApprove, kAuto };

// Who plans. Term 0 = nobody yet; an empty session = nobody now (the last one was removed).
struct Leader {
  SessionId session;
  Term term;

  friend bool operator==(const Leader&, const Leader&) = default;
};

// One router process of the pool: the protocol's "member".
struct Router {
  SessionId session;
  std::string peer = {};  // "host:port" where other routers ask it (peer/); empty: nowhere
  // The newest text form that it reads: nobody may write a newer one while it is a member.
  std::uint32_t reader = kTextReader;
  std::uint32_t peer_version = 0;  // the newest version of the questions that it answers

  friend bool operator==(const Router&, const Router&) = default;
};

// Invariants (checked by `validate`): epoch at least 1; node ids and names unique, ids below
// next_node, at least one node active, only draining ones held; cuts sorted, disjoint, owned by
// known nodes; moves' ranges canonical and disjoint from each other's, their ends known and
// different; routers sorted by session and unique; the leader is a router; move id <= phase epoch
// <= epoch; leftovers sorted by move and unique, of known nodes, their ranges canonical; events
// sorted by name and unique; the scheme places the active nodes (base_ring.h), and has cuts
// and moves only if its tokens do not depend on the nodes; every router reads the text form;
// numbers and times in 0 .. kNumberMax; names, hash keys, addresses, racks, sessions and the pool
// are UTF-8 without control characters, at most kWordBytesMax bytes. Reasons are free text.
struct Document {
  Epoch epoch;
  std::string pool;
  std::string mark;  // this pool's ownership marker value on its servers (rule 12); random
  SchemeSpec scheme = {.name = "vnode"};
  std::vector<Node> nodes;  // sorted by id
  NodeId next_node{1};
  std::vector<Cut> cuts;
  std::vector<Move> moves;  // sorted by id
  Leader leader;
  std::vector<Router> routers;  // sorted by session
  Mode mode = Mode::kAuto;
  bool frozen = false;                  // no new moves
  std::vector<ExpectedEvent> expected;  // sorted by name
  std::vector<Leftover> leftovers;      // sorted by move
  // A person wants to go back to an older version: no move begins, and as soon as no leftover is
  // left the text form is one that it reads.
  bool old_readers = false;
  // A person wants every cut taken back; nothing else is planned until the pool is resumed.
  bool flatten = false;

  friend bool operator==(const Document&, const Document&) = default;
};

// Lookups; nullptr when absent.
const Node* find_node(const Document& document, NodeId id);
const Node* find_node(const Document& document, std::string_view name);
const Move* find_move(const Document& document, MoveId id);
const ExpectedEvent* find_event(const Document& document, std::string_view name);
const Leftover* find_leftover(const Document& document, MoveId move);
// Whether the entry is that of a move in flight, whose copies are wanted still.
bool in_use(const Document& document, const Leftover& leftover);
// The first router that knows no leftovers; while there is one nothing may be moved by the rules of
// leftovers, and nothing needs to be known of them. nullptr: every router knows them.
const Router* old_reader(const Document& document);
const Router* find_router(const Document& document, const SessionId& session);
bool has_router(const Document& document, const SessionId& session);
std::vector<SessionId> sessions_of(const Document& document);  // of the routers, sorted

// Every broken invariant is a kInvalid error that names the value. Cost: O(all of it); for other
// schemes than plain vnode that of placing the nodes too.
Result<void> validate(const Document& document);

// The version of the text form that `to_text` writes for this document: the oldest that can hold
// it, so that two versions of cleave can share a pool while it is upgraded; once every router knows
// leftovers it is format 5 all the same, so that none joins that would delete what it did not put
// there. (Format 1 is not written any more: in its time a pool had one router.)
std::uint32_t text_format_of(const Document& document);

// Canonical JSON, one line: the same document gives the same bytes. Carries `format` and
// `min_reader`. Bytes of a reason that are not UTF-8 become U+FFFD. Requires: a valid document.
std::string to_text(const Document& document);

// Errors: kInvalid with the place and the reason, also when `min_reader` is newer than this reader.
// Unknown fields are ignored (a newer writer may add some). The result is valid (see `validate`).
Result<Document> parse_document(std::string_view text);

// The names used in the text form: "active", "draining"; "copying", "fenced", "clean"; "observe",
// "approve", "auto"; "open", "begun", "kept", "kept-begun". Errors of the inverse: kInvalid, names
// the text.
std::string_view to_string(NodeState state);
std::string_view to_string(Phase phase);
std::string_view to_string(Mode mode);
std::string_view to_string(LeftoverState state);
Result<NodeState> parse_node_state(std::string_view text);
Result<Phase> parse_phase(std::string_view text);
Result<Mode> parse_mode(std::string_view text);
Result<LeftoverState> parse_leftover_state(std::string_view text);

}  // namespace cleave::ring
