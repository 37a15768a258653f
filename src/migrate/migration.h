// Migration: one move as a state machine. It decides what is done next; it does nothing itself.
//
//   identify -> begin -> sweep -> check -> enter -> await copying -> scan -> rounds -> fence
//      |          |        |        |        |           |             |        |        |
//      v          +--------+--------+--------+-----------+-------------+--------+--(fail)+--> abort
//   refused                                                                     v               |
//                                          over <-- commit <-- verify <-- last copies           v
//                                                                |                            over
//                                                             (fail)--> abort
//
// Until `commit` the source owns the range and every failure leads to `abort`, always safe. What a
// move leaves behind, aborted or committed, is an entry of the document's leftovers: cleaning it is
// no part of the move (migrate/cleaning.h).
// The rules are those of docs/formats/move-protocol.md; the number stands beside each.
//
// Threads: one owner. Pure: the same events give the same actions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "base/result.h"
#include "base/touched.h"
#include "migrate/big_keys.h"
#include "migrate/dirty.h"
#include "ring/document/document.h"
#include "ring/edits/edits.h"

namespace cleave::migrate {

// What the driver found at one end of the move.
struct ServerFacts {
  Incarnation incarnation;
  bool primary = false;
  bool marked = false;         // carries this pool's ownership marker (rule 12)
  std::string server{};        // its own id (backend/ring_note.h); empty: it has none yet
  std::int64_t clock_ms = 0;   // TIME less our own steady clock: asked at different moments
  std::uint32_t replicas = 0;  // connected ones
  std::uint64_t offset = 0;    // of its replication stream
  // The life before its last failover, and where that ended.
  std::string former_replication_id{};
  std::uint64_t former_offset = 0;

  friend bool operator==(const ServerFacts&, const ServerFacts&) = default;
};

// Whether it is the server that the entry of the leftovers was made for; also where that is not
// known (rule 23 f).
bool is_same_server(const ring::Leftover& entry, const ServerFacts& now);

// A key that cannot be moved; it stays where it is, with the reason for people.
struct Unmovable {
  std::string key;
  std::string reason;

  friend bool operator==(const Unmovable&, const Unmovable&) = default;
};

// ---- events -----------------------------------------------------------------------------------
// Everything that can happen to a move. All are legal in every step; late and repeated ones change
// nothing.

// The first event.
struct Start {};
struct Identified {  // answer to Identify
  ServerFacts source;
  ServerFacts destination;
  std::string unfit = {};  // what the preflight found: why the move could not be carried out
};
// A document was read or written; also sent for each later document that the driver sees.
struct DocumentSeen {
  std::shared_ptr<const ring::Document> document;
};
// Our own compare-and-set succeeded; `document` is what it wrote.
struct Written {
  std::shared_ptr<const ring::Document> document;
};
struct WriteRefused {  // the edit's precondition does not hold any more
  std::string why;
};
struct Swept {};
// Keys of the range that lie at the destination: nobody of this pool put them there.
struct Checked {
  std::uint64_t foreign = 0;
  std::vector<std::string> examples{};
};
struct CopyingAcked {
  SessionId session;
};
struct ScanPage {
  std::vector<std::string> keys;  // of the range only
  bool last = false;
};
struct Copied {  // answer to one CopyKeys
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::vector<Unmovable> unmovable = {};
  std::vector<std::string> big = {};  // those that took too long to be copied at a fence
  // Those that were not copied: they go in pieces, as CopyKeys::pieces.
  std::vector<std::string> pieces = {};
};
struct Taken {
  SessionId session;
  std::uint64_t number = 0;
  std::vector<std::string> keys;
  bool whole_range = false;
  std::vector<Touched> elements = {};
};
struct FencedAcked {
  SessionId session;
  std::vector<std::string> keys;
  bool whole_range = false;
  std::vector<Incarnation> source_incarnations;  // that its commands of the range used
  std::vector<Touched> elements = {};
};
struct ReplicasWaited {
  std::uint32_t reached = 0;
};
struct Failed {  // what was asked for last could not be done
  std::string why;
};
struct AbortWanted {
  std::string why;
};
struct Tick {};

using Event = std::variant<Start, Identified, DocumentSeen, Written, WriteRefused, Swept, Checked,
                           CopyingAcked, ScanPage, Copied, Taken, FencedAcked, ReplicasWaited,
                           Failed, AbortWanted, Tick>;

// ---- actions ----------------------------------------------------------------------------------

enum class Change : std::uint8_t { kBegin, kEnter, kFence, kCommit, kAbort };

struct Identify {          // INFO, marker, TIME of both ends -> Identified
  bool preflight = false;  // also whether both can do what a move needs of them
};
struct Write {  // compare-and-set -> Written | WriteRefused
  Change change = Change::kAbort;
};
struct SweepBoth {};   // rule 7 at both ends -> Swept
struct Check {};       // rule 13 -> Checked
struct AwaitCopying {  // -> CopyingAcked
  SessionId session;
};
struct ScanNext {  // one page of the source -> ScanPage
  bool from_start = false;
};
struct CopyKeys {                        // rule 15, in the order asked for -> Copied
  std::vector<std::string> keys;         // those that turn out to go in pieces are not copied
  bool fenced = false;                   // the range is held meanwhile: no throttle
  std::vector<std::string> pieces = {};  // in pieces, if they are that big
  std::vector<Touched> elements = {};    // over their whole copies (rule 27)
};
struct Take {  // -> Taken
  SessionId session;
  std::uint64_t number = 0;
  std::vector<std::string> watch = {};  // keys whose elements are to be marked from now on
};
struct AwaitFenced {  // -> FencedAcked
  SessionId session;
};
struct WaitReplicas {  // WAIT at the destination -> ReplicasWaited
  std::uint32_t replicas = 0;
};
struct Over {};  // see `outcome`; nothing comes after

using Action = std::variant<Identify, Write, SweepBoth, Check, AwaitCopying, ScanNext, CopyKeys,
                            Take, AwaitFenced, WaitReplicas, Over>;
using Actions = std::vector<Action>;

// Where a move is; in the order of the picture above.
enum class Step : std::uint8_t {
  kIdentify,
  kBegin,
  kSweep,
  kCheck,
  kEnter,
  kAwaitCopying,
  kScan,
  kRounds,
  kFence,
  kAwaitFenced,
  kLastCopies,
  kReplicas,
  kVerify,
  kCommit,
  kAbort,
  kOver,
};
std::string_view to_string(Step step);

// How a move ended.
struct Outcome {
  bool committed = false;
  std::string why = {};                   // of an abort or refusal; empty after a commit
  std::vector<Unmovable> unmovable = {};  // keys because of which it was aborted: few, to go around
  bool again = false;                     // the same move may well succeed at the next try
  bool foreign_keys = false;              // what lies at the destination stopped it (rule 13)
};

// What a move has done so far.
struct Progress {
  std::uint64_t keys_copied = 0;
  std::uint64_t bytes_copied = 0;
  std::uint64_t rounds = 0;
  Instant began{0};
  Instant fenced{0};  // when the FENCED compare-and-set succeeded
  Instant committed{0};
};

class Migration {
 public:
  struct Options {
    Limits limits;
    Mutations mutations;
    std::size_t kept_behind = 0;  // keys around which this move goes already
  };

  // A new move. The first event is Start.
  Migration(ring::MoveRequest request, Options options);
  // A taking back (rule 26): fenced from its first compare-and-set, nothing is copied.
  Migration(const ring::Leftover& kept, UnixMillis now, Options options);

  Actions step(const Event& event, Instant now);

  // The edit behind a Write action, to be applied to the document as it is at the compare-and-set,
  // again after each lost race (rule 20: a joiner in between makes the commit read again). The
  // caller has checked that it is still the leader of its term.
  Result<ring::Document> edit(Change change, const ring::Document& document, UnixMillis now) const;

  Step at() const { return step_; }
  std::string waits_for() const;
  const ring::MoveRequest& request() const { return request_; }
  // 0 until begun.
  MoveId id() const { return id_; }
  // What acknowledgements and takes must carry (rule 4).
  Epoch copying_epoch() const { return copying_epoch_; }
  Epoch fenced_epoch() const { return fenced_epoch_; }
  const Outcome& outcome() const { return outcome_; }
  const Progress& progress() const { return progress_; }
  bool is_over() const { return step_ == Step::kOver; }

 private:
  Actions on(const Start& event, Instant now);
  Actions on(const Identified& event, Instant now);
  Actions on(const DocumentSeen& event, Instant now);
  Actions on(const Written& event, Instant now);
  Actions on(const WriteRefused& event, Instant now);
  Actions on(const Swept& event, Instant now);
  Actions on(const Checked& event, Instant now);
  Actions on(const CopyingAcked& event, Instant now);
  Actions on(const ScanPage& event, Instant now);
  Actions on(const Copied& event, Instant now);
  Actions on(const Taken& event, Instant now);
  Actions on(const FencedAcked& event, Instant now);
  Actions on(const ReplicasWaited& event, Instant now);
  Actions on(const Failed& event, Instant now);
  Actions on(const AbortWanted& event, Instant now);
  Actions on(const Tick& event, Instant now);

  // migration_rules.cc
  void check_rules() const;
  void check_phase() const;
  void check_copies() const;
  void check_end() const;
  Actions enter(Step step, Actions actions, Instant now);
  Actions refuse(std::string why, Instant now);
  Actions abort(std::string why, Instant now);
  Actions over(bool committed, std::string why, Instant now);
  Result<ring::Document> true_edit(Change change, const ring::Document& document,
                                   UnixMillis now) const;
  std::optional<Result<ring::Document>> mutated_edit(Change change, const ring::Document& document,
                                                     UnixMillis now) const;
  Result<ring::Document> begin_edit(const ring::Document& document, UnixMillis now) const;
  Result<ring::Document> commit_edit(const ring::Document& document, UnixMillis now) const;
  Actions begun(const ring::Document& document, Instant now);
  Actions await_fenced(Instant now);
  Actions await_copying(Instant now);
  Actions scan_on(Instant now);
  Actions take_dirty(Instant now);
  Actions take_meanwhile(Instant now);
  Actions scanned(Instant now);
  Actions keep_behind(Instant now);
  Actions next_round(Instant now);
  Actions round_taken(Instant now);
  Actions round_copied(const Copied& event, Instant now);
  Actions again(const std::string& key, const std::string& why, Instant now);
  Actions fenced(const ring::Move& move, const ring::Document& document, Instant now);
  Actions last_copies(Instant now);
  Actions entered(Instant now);
  Actions committed(Instant now);
  // The move is no longer in the document.
  Actions gone(const ring::Document& document, Instant now);
  Actions copy_meanwhile(Instant now);
  Actions copy_pending(bool fenced);
  void add_pending(const std::vector<std::string>& keys, const std::vector<Touched>& elements);
  // More than Limits::driver_keys_max: more memory than a driver is to have.
  bool too_many_wait() const;
  std::string too_many_text() const;
  std::size_t few_elements() const { return 4 * options_.limits.dirty_small_keys; }
  std::string refusal(const Identified& event) const;
  std::string clocks_apart(const Identified& event) const;
  bool too_much(std::int64_t skew_ms) const;
  std::string changed_server(const Identified& event) const;

  ring::MoveRequest request_;
  Options options_;
  std::optional<ring::Leftover> takes_back_;
  Step step_ = Step::kIdentify;
  Instant step_since_{0};
  Epoch seen_;  // newest document; older ones that arrive late are passed over
  MoveId id_;
  Epoch copying_epoch_;
  Epoch fenced_epoch_;
  ServerFacts source_;
  ServerFacts destination_;
  std::set<SessionId> members_;  // of the document that the present wait is about
  std::set<SessionId> waiting_;  // members that have not answered yet
  std::uint64_t take_number_ = 0;
  Instant taken_at_{0};
  Dirty pending_;                // to copy next
  std::uint64_t keys_seen_ = 0;  // by the scan
  BigKeys big_;
  std::vector<std::string> in_pieces_;       // keys of the round under way
  std::map<std::string, std::string> stay_;  // what cannot be moved, and why
  std::uint64_t copies_open_ = 0;            // CopyKeys without their Copied
  bool entered_ = false;                     // the document's leftovers show our copies (rule 13)
  bool looked_again_ = false;                // at both servers, behind the last copies (rule 19)
  bool scan_open_ = false;
  bool scan_ended_ = false;
  bool meanwhile_ = false;    // the take under way was begun while a round was being copied
  bool round_small_ = false;  // the last take found few keys: time to fence
  bool retry_ = false;        // what was refused or failed is asked for again at the next Tick
  std::string abort_wanted_;  // while the first compare-and-set is on its way
  Outcome outcome_;
  Progress progress_;
};

}  // namespace cleave::migrate
