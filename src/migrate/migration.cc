#include "migrate/migration.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cleave::migrate {
namespace {

std::set<SessionId> sessions_set(const ring::Document& document) {
  const std::vector<SessionId> sessions = ring::sessions_of(document);
  return {sessions.begin(), sessions.end()};
}

constexpr seconds kCopyingAckMax{5};
// So many elements are copied inside a fence, and no more.
constexpr std::size_t kFenceElementsMax = 4'096;

std::string foreign_text(const Checked& found) {
  std::string text = "the destination holds " + std::to_string(found.foreign) +
                     (found.foreign == 1 ? " key" : " keys") +
                     " of the range that no move put there (";
  for (std::size_t i = 0; i < found.examples.size(); ++i)
    text += (i == 0 ? "'" : ", '") + found.examples[i] + "'";
  return text + "); nothing was touched. See 'cleave strays'";
}

}  // namespace

std::string_view to_string(Step step) {
  switch (step) {
    case Step::kIdentify: return "identify";
    case Step::kBegin: return "begin";
    case Step::kSweep: return "sweep";
    case Step::kCheck: return "check";
    case Step::kEnter: return "enter";
    case Step::kAwaitCopying: return "await-copying";
    case Step::kScan: return "scan";
    case Step::kRounds: return "rounds";
    case Step::kFence: return "fence";
    case Step::kAwaitFenced: return "await-fenced";
    case Step::kLastCopies: return "last-copies";
    case Step::kReplicas: return "replicas";
    case Step::kVerify: return "verify";
    case Step::kCommit: return "commit";
    case Step::kAbort: return "abort";
    case Step::kOver: return "over";
  }
  return "unknown";
}

Migration::Migration(ring::MoveRequest request, Options options)
    : request_(std::move(request)), options_(options) {
  request_.ranges = ring::normalised(std::move(request_.ranges));
  CHECK(request_.source != request_.destination);
}

Migration::Migration(const ring::Leftover& kept, UnixMillis now, Options options)
    : request_{.ranges = kept.ranges,
               .source = kept.holder,
               .destination = kept.node,
               .reason = "taken back",
               .now = now},
      options_(options),
      takes_back_(kept) {
  CHECK(kept.kept());  // rule 26
  CHECK(kept.holder != NodeId{} && kept.holder != kept.node);
}

Actions Migration::step(const Event& event, Instant now) {
  if (is_over()) return {};
  Actions actions = std::visit([&](const auto& what) { return on(what, now); }, event);
  check_rules();
  return actions;
}

Result<ring::Document> Migration::edit(Change change, const ring::Document& document,
                                       UnixMillis now) const {
  if (options_.mutations.any_of_edits()) {
    if (std::optional<Result<ring::Document>> mutated = mutated_edit(change, document, now))
      return *mutated;
  }
  return true_edit(change, document, now);
}

Result<ring::Document> Migration::true_edit(Change change, const ring::Document& document,
                                            UnixMillis now) const {
  const ring::Move* move = ring::find_move(document, id_);
  switch (change) {
    case Change::kBegin: return begin_edit(document, now);
    case Change::kEnter:
      return ring::enter_copies(document, id_, copying_epoch_, now, destination_.server);
    case Change::kFence: return ring::fence_move(document, id_, copying_epoch_);
    case Change::kCommit: return commit_edit(document, now);
    case Change::kAbort:
      // The driver may abort its move in either phase: nothing is lost in any (rule 22).
      if (move == nullptr) return fail(Code::kConflict, "the move is gone");
      return ring::abort_move(document, id_, move->phase_epoch);
  }
  return fail(Code::kInvalid, "no such change");
}

Result<ring::Document> Migration::begin_edit(const ring::Document& document, UnixMillis now) const {
  if (takes_back_) return ring::begin_taking_back(document, *takes_back_, now);
  ring::MoveRequest request = request_;
  request.now = now;
  return ring::begin_move(document, request);
}

Result<ring::Document> Migration::commit_edit(const ring::Document& document,
                                              UnixMillis now) const {
  for (const SessionId& session : ring::sessions_of(document)) {
    // One that joined after the fence was born fenced: it counts as acknowledged (rule 20).
    if (waiting_.contains(session) && !options_.mutations.commit_without_acks)
      return fail(Code::kConflict, "router " + session.value() + " has not acknowledged");
  }
  if (takes_back_)
    return ring::take_back(document, id_, fenced_epoch_, *takes_back_, now, source_.server);
  // Without a replica there is no successor to compare a stream with.
  const ring::Holder holder{.incarnation = destination_.incarnation,
                            .offset = destination_.replicas > 0 ? destination_.offset : 0};
  return ring::commit_move(document, id_, fenced_epoch_, holder, now, {request_.pin_until},
                           source_.server);
}

std::string Migration::waits_for() const {
  if (step_ == Step::kAwaitCopying || step_ == Step::kAwaitFenced) {
    std::string names;
    for (const SessionId& session : waiting_)
      names += (names.empty() ? "" : ", ") + session.value();
    return "routers " + names;
  }
  if (step_ == Step::kRounds && !waiting_.empty()) return "dirty sets";
  if (step_ == Step::kReplicas) return "replicas of the destination";
  return "";
}

// ---- the way to the commit ----------------------------------------------------------------------

Actions Migration::on(const Start&, Instant now) {
  progress_.began = now;
  step_since_ = now;
  if (step_ != Step::kIdentify) return {};
  return {Identify{.preflight = true}};
}

Actions Migration::on(const Identified& event, Instant now) {
  if (step_ == Step::kIdentify) {
    std::string why = refusal(event);
    if (!why.empty()) return refuse(std::move(why), now);
    source_ = event.source;
    destination_ = event.destination;
    return enter(Step::kBegin, {Write{Change::kBegin}}, now);
  }
  if (step_ != Step::kVerify) return {};
  std::string why = changed_server(event);
  if (!why.empty() && !options_.mutations.no_incarnation_check) return abort(std::move(why), now);
  // All replies to the copies are in: whoever has this much of the stream has them all (rule 23 e).
  destination_.offset = event.destination.offset;
  looked_again_ = true;
  return enter(Step::kCommit, {Write{Change::kCommit}}, now);
}

// Rule 12. What is cleaned must be ours, and with two names for one server, or a server and its own
// replica, the only copy would be cleaned.
std::string Migration::refusal(const Identified& event) const {
  const ServerFacts& source = event.source;
  const ServerFacts& destination = event.destination;
  if (source.incarnation.run_id == destination.incarnation.run_id)
    return "source and destination are one server under two names";
  if (source.incarnation.replication_id == destination.incarnation.replication_id)
    return "source and destination replicate one another";
  if (!source.primary) return "the source is not a primary";
  if (!destination.primary) return "the destination is not a primary";
  if (!source.marked && !options_.mutations.no_marker_check)
    return "the source does not carry this pool's ownership marker; see 'cleave adopt'";
  if (!destination.marked && !options_.mutations.no_marker_check)
    return "the destination does not carry this pool's ownership marker; see 'cleave adopt'";
  // The server that has what was kept is not this one (rule 23 f).
  if (takes_back_ && !is_same_server(*takes_back_, destination) &&
      !options_.mutations.clean_any_server)
    return "the server that has what is kept is not the one at that address now";
  if (!event.unfit.empty()) return event.unfit;
  return clocks_apart(event);
}

// Expiry times go on by the destination's clock.
std::string Migration::clocks_apart(const Identified& event) const {
  if (options_.mutations.no_clock_check) return "";
  const std::int64_t skew = event.source.clock_ms - event.destination.clock_ms;
  if (!too_much(skew)) return "";
  return "the clocks of source and destination differ by " + std::to_string(skew) +
         " ms, which expiry times would not survive";
}

bool Migration::too_much(std::int64_t skew_ms) const {
  return std::max(skew_ms, -skew_ms) > options_.limits.clock_skew_max.count();
}

// Rule 19.
std::string Migration::changed_server(const Identified& event) const {
  if (event.source.incarnation != source_.incarnation || !event.source.primary)
    return "the source restarted or failed over during the move";
  if (event.destination.incarnation != destination_.incarnation || !event.destination.primary)
    return "the destination restarted or failed over during the move";
  // A key whose time came early at the source was gone for clients, which is no write and in no
  // dirty set: the destination would bring it back.
  const bool jumped = too_much(event.source.clock_ms - source_.clock_ms) ||
                      too_much(event.destination.clock_ms - destination_.clock_ms);
  if (jumped && !options_.mutations.no_clock_check)
    return "the clock of the source or of the destination jumped during the move";
  return clocks_apart(event);
}

Actions Migration::on(const Written& event, Instant now) {
  const ring::Document& document = *event.document;
  if (step_ == Step::kBegin) {
    seen_ = document.epoch;
    return begun(document, now);
  }
  return on(DocumentSeen{event.document}, now);
}

Actions Migration::begun(const ring::Document& document, Instant now) {
  id_ = MoveId{document.epoch.value()};
  (takes_back_ ? fenced_epoch_ : copying_epoch_) = document.epoch;
  if (takes_back_) progress_.fenced = now;
  members_ = sessions_set(document);
  if (!abort_wanted_.empty()) return abort(abort_wanted_, now);
  enter(Step::kSweep, {}, now);
  if (options_.mutations.no_sweep) return on(Swept{}, now);
  return {SweepBoth{}};
}

Actions Migration::on(const Swept&, Instant now) {
  if (step_ != Step::kSweep) return {};
  if (takes_back_) return await_fenced(now);
  const Mutations& off = options_.mutations;
  if (off.enter_late) return await_copying(now);
  if (off.no_check || off.enter_before_check)
    return enter(Step::kEnter, {Write{Change::kEnter}}, now);
  return enter(Step::kCheck, {Check{}}, now);
}

// Rule 13. Whatever lies there is somebody's, and stays: the move is given up before its first copy
// and before an entry would let the cleaning have it.
Actions Migration::on(const Checked& event, Instant now) {
  if (step_ != Step::kCheck) return {};
  if (event.foreign > 0) {
    outcome_.foreign_keys = true;
    return abort(foreign_text(event), now);
  }
  if (options_.mutations.enter_before_check) return await_copying(now);
  return enter(Step::kEnter, {Write{Change::kEnter}}, now);
}

// Only now may a copy be written: whatever happens, somebody knows where to clean.
Actions Migration::entered(Instant now) {
  entered_ = true;
  if (options_.mutations.enter_before_check) return enter(Step::kCheck, {Check{}}, now);
  if (options_.mutations.enter_late) return next_round(now);
  return await_copying(now);
}

// Rule 14. Until every member notes its writes, a scan could pass a key that is written unseen
// behind it.
Actions Migration::await_copying(Instant now) {
  waiting_ = members_;
  if (options_.mutations.no_copying_ack) waiting_.clear();
  Actions actions;
  for (const SessionId& session : waiting_) actions.emplace_back(AwaitCopying{session});
  enter(Step::kAwaitCopying, {}, now);
  return waiting_.empty() ? scan_on(now) : actions;
}

Actions Migration::on(const CopyingAcked& event, Instant now) {
  if (step_ != Step::kAwaitCopying || waiting_.erase(event.session) == 0) return {};
  return waiting_.empty() ? scan_on(now) : Actions{};
}

// Rule 17. `document` is what the compare-and-set wrote: whoever joins later joins fenced.
Actions Migration::fenced(const ring::Move& move, const ring::Document& document, Instant now) {
  fenced_epoch_ = move.phase_epoch;
  progress_.fenced = now;
  if (!options_.mutations.members_before_fence) members_ = sessions_set(document);
  return await_fenced(now);
}

Actions Migration::await_fenced(Instant now) {
  waiting_ = members_;
  enter(Step::kAwaitFenced, {}, now);
  if (options_.mutations.commit_without_acks || waiting_.empty()) return last_copies(now);
  Actions actions;
  for (const SessionId& session : waiting_) actions.emplace_back(AwaitFenced{session});
  return actions;
}

Actions Migration::on(const FencedAcked& event, Instant now) {
  if (step_ != Step::kAwaitFenced || !waiting_.contains(event.session)) return {};
  // A taking back copies nothing: what was written since the commit is given up by it.
  if (event.whole_range && !takes_back_)
    return abort("a command whose keys are not all known, or too many writes, met the move", now);
  for (const Incarnation& incarnation : event.source_incarnations) {
    if (incarnation != source_.incarnation && !options_.mutations.no_incarnation_check &&
        !takes_back_)
      return abort("router " + event.session.value() + " spoke to another life of the source", now);
  }
  waiting_.erase(event.session);
  if (!options_.mutations.no_last_copy && !takes_back_)
    add_pending(event.keys,
                options_.mutations.no_last_elements ? std::vector<Touched>{} : event.elements);
  if (too_many_wait()) return abort(too_many_text(), now);
  return waiting_.empty() ? last_copies(now) : Actions{};
}

// Rules 18 and 19: what is left, then the replicas, then one more look at both servers.
Actions Migration::last_copies(Instant now) {
  if (takes_back_) return enter(Step::kCommit, {Write{Change::kCommit}}, now);
  for (const auto& [key, elements] : pending_.marks()) {
    if (elements.empty() && big_.is_slow(key))
      return again(key, "it was written again each time while it was copied in pieces", now);
    if (elements.size() > kFenceElementsMax)
      return again(key, "its elements are written faster than they can be copied", now);
  }
  if (!pending_.empty()) {
    enter(Step::kLastCopies, {}, now);
    return copy_pending(true);
  }
  if (destination_.replicas > 0 && step_ != Step::kReplicas)
    return enter(Step::kReplicas, {WaitReplicas{destination_.replicas}}, now);
  return enter(Step::kVerify, {Identify{}}, now);
}

// A key that is copied in pieces was written before the fence as no fence has time for.
Actions Migration::again(const std::string& key, const std::string& why, Instant now) {
  outcome_.again = true;
  outcome_.unmovable = {{key, why}};
  return abort("a key that is copied in pieces was written again before the fence", now);
}

Actions Migration::on(const ReplicasWaited& event, Instant now) {
  if (step_ != Step::kReplicas) return {};
  if (event.reached < destination_.replicas)
    return abort("only " + std::to_string(event.reached) + " of " +
                     std::to_string(destination_.replicas) +
                     " replicas of the destination have the copies",
                 now);
  return last_copies(now);
}

Actions Migration::committed(Instant now) {
  CHECK(step_ == Step::kCommit || step_ == Step::kAbort);  // its answer may have been lost
  progress_.committed = now;
  outcome_.unmovable.clear();
  outcome_.again = false;
  return over(true, "", now);
}

// ---- what others did, failures, the end ---------------------------------------------------------

// Also how an unknown outcome of our own compare-and-set is settled: whoever wrote the phase that
// we wanted, it was for this move, whose id never returns.
Actions Migration::on(const DocumentSeen& event, Instant now) {
  const ring::Document& document = *event.document;
  if (id_ == MoveId{} || document.epoch < seen_) return {};
  seen_ = document.epoch;
  const ring::Move* move = ring::find_move(document, id_);
  if (move == nullptr) return gone(document, now);
  if (step_ == Step::kEnter && ring::find_leftover(document, id_) != nullptr) return entered(now);
  if (move->phase == ring::Phase::kFenced && step_ == Step::kFence)
    return fenced(*move, document, now);
  return {};
}

// A commit leaves an entry of the source, an abort none or one of the destination. While this term
// leads nobody else takes entries off, so the answer stands in the document.
Actions Migration::gone(const ring::Document& document, Instant now) {
  const ring::Leftover* left = ring::find_leftover(document, id_);
  if (left != nullptr && left->node == request_.source) return committed(now);
  return over(false, outcome_.why.empty() ? "aborted by another" : outcome_.why, now);
}

Actions Migration::on(const WriteRefused& event, Instant now) {
  switch (step_) {
    case Step::kBegin: return refuse(event.why, now);
    case Step::kEnter:
    case Step::kFence:
    case Step::kCommit: return abort(event.why, now);
    case Step::kAbort: retry_ = true; return {};
    default: return {};
  }
}

Actions Migration::on(const Failed& event, Instant now) {
  if (step_ == Step::kIdentify) return refuse(event.why, now);
  if (step_ == Step::kAbort) {
    retry_ = true;
    return {};
  }
  // A commit on its way is answered by the document, never by us.
  if (step_ == Step::kCommit || step_ == Step::kBegin) return {};
  return abort(event.why, now);
}

Actions Migration::on(const AbortWanted& event, Instant now) {
  if (step_ == Step::kIdentify) return refuse(event.why, now);
  if (step_ == Step::kBegin) {
    abort_wanted_ = event.why;
    return {};
  }
  if (step_ == Step::kCommit) return {};
  return abort(event.why, now);
}

Actions Migration::on(const Tick&, Instant now) {
  if (step_ == Step::kScan || step_ == Step::kRounds) return take_meanwhile(now);
  if (retry_) {
    retry_ = false;
    if (step_ == Step::kAbort) return {Write{Change::kAbort}};
  }
  if (step_ == Step::kAwaitCopying && now - step_since_ > kCopyingAckMax)
    return abort("no acknowledgement of the copying phase by " + waits_for(), now);
  const bool holding = (step_ == Step::kSweep && takes_back_.has_value()) ||
                       step_ == Step::kAwaitFenced || step_ == Step::kLastCopies ||
                       step_ == Step::kReplicas || step_ == Step::kVerify;
  if (holding && now - progress_.fenced > options_.limits.fence_abort_after())
    return abort(
        "the fence would have been held too long (step " + std::string(to_string(step_)) + ")",
        now);
  return {};
}

Actions Migration::enter(Step step, Actions actions, Instant now) {
  step_ = step;
  step_since_ = now;
  return actions;
}

// Nothing was begun: there is nothing to undo.
Actions Migration::refuse(std::string why, Instant now) { return over(false, std::move(why), now); }

Actions Migration::abort(std::string why, Instant now) {
  if (is_over() || step_ == Step::kAbort) return {};
  outcome_.why = std::move(why);
  return enter(Step::kAbort, {Write{Change::kAbort}}, now);
}

Actions Migration::over(bool committed, std::string why, Instant now) {
  outcome_.committed = committed;
  outcome_.why = std::move(why);
  return enter(Step::kOver, {Over{}}, now);
}

}  // namespace cleave::migrate
