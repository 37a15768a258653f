#include "control/plan/balancer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "balance/planner.h"
#include "base/guarded.h"
#include "base/hash.h"
#include "base/shown.h"
#include "control/orders/describe.h"
#include "control/plan/move_outlook.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

constexpr seconds kGather{1};
// How many gathers make an interval of the servers' counters: 10 s.
constexpr std::uint64_t kGathersAnInterval = 10;
constexpr seconds kProposalStands{60};
// How often servers are asked after a move what they use now: at the first time a server may not
// have freed everything yet. Within balance::Constants::memory_settle.
constexpr std::uint32_t kLooksAfterMove = 2;
constexpr std::uint32_t kMovesAtOnce = 1'000;  // of a rehearsal, a node
// What an empty redis-server uses; the rest is divided among its keys.
constexpr std::uint64_t kEmptyServerBytes = 2'000'000;

bool same_ends(const balance::PlannedMove& one, const balance::PlannedMove& other) {
  return one.source == other.source && one.destination == other.destination &&
         one.cause == other.cause;
}

// Of what would be begun, and on which ring.
std::string id_of(const balance::Plan& plan, Epoch epoch) {
  constexpr std::size_t kDigits = 8;
  if (plan.moves.empty() && plan.merges.empty()) return "";
  std::string text = std::to_string(epoch.value());
  for (const balance::PlannedMove& move : plan.moves) {
    text +=
        " " + std::to_string(move.source.value()) + ">" + std::to_string(move.destination.value());
    for (const ring::TokenRange& range : move.ranges) text += " " + ring::to_string(range);
  }
  for (const ring::TokenRange& range : plan.merges) text += " m" + ring::to_string(range);
  return ring::to_hex(Token{xxh3_64(text)}).substr(0, kDigits);
}

}  // namespace

Balancer::Balancer(Options options)
    : options_(std::move(options)),
      loop_(options_.loop.now()),
      samples_(options_.loop),
      scripts_(options_.loop.now()) {
  options_.loop.after(kGather, guarded(alive_, [this] { gather(); }));
}

void Balancer::see(const ring::RingSnapshot& view) {
  if (view_ != nullptr && view->epoch() <= view_->epoch()) return;
  if (view_ != nullptr) {
    for (const SessionId& session : ring::sessions_of(view_->document())) {
      if (ring::has_router(view->document(), session)) continue;
      loop_.forget(session);
      heard_.erase(session);
    }
    for (const ring::Node& node : view_->document().nodes) {
      if (ring::find_node(view->document(), node.id) != nullptr) continue;
      costs_.forget(node.id);
      attribution_.forget(node.id);
      samples_.forget(node.id);
    }
  }
  view_ = view;
  loop_.set_view(view);
}

// Every second the reports, every second time a tick: reports asked for now arrive before the next.
void Balancer::gather() {
  options_.loop.after(kGather, guarded(alive_, [this] { gather(); }));
  if (view_ == nullptr) return;
  // A tick takes milliseconds of this loop, which a fence would last longer: after it is soon
  // enough.
  if (options_.board.fencing()) return;
  if (++ticks_ % 2 == 0) tick();
  judge_interval();
  ask_routers();
  hurry_samples();
  if (ticks_ % kGathersAnInterval == 0) {
    read_servers();
  } else if (looks_left_ > 0) {
    --looks_left_;
    options_.links.poll([] {});
  }
}

const Balancer::Heard* Balancer::heard(const SessionId& session) const {
  const auto found = heard_.find(session);
  return found == heard_.end() ? nullptr : &found->second;
}

void Balancer::ask_routers() {
  const std::vector<SessionId> sessions = ring::sessions_of(view_->document());
  attribution_.set_routers(sessions);
  const std::uint64_t interval = attribution_.interval();
  for (const SessionId& session : sessions) {
    peer::RouterPeer* router = options_.directory.find(session);
    if (router == nullptr) {
      attribution_.missing(interval);
      continue;
    }
    attribution_.asked();
    router->take_heat(
        costs_.prices(),
        guarded(alive_, [this, session, interval](Result<std::vector<heat::Report>> reports) {
          // What one has counted that has left meanwhile is load no more.
          if (!reports || !ring::has_router(view_->document(), session))
            return attribution_.missing(interval);
          attribution_.count(interval, session, *reports, options_.loop.now());
          Heard& heard = heard_[session];
          heard.at = options_.loop.now();
          if (!reports->empty()) heard.view = reports->back().epoch;
          for (const heat::Report& report : *reports) {
            loop_.fold(session, report, options_.loop.now());
            scripts_.take(report.scripts, options_.loop.now());
          }
        }));
  }
}

// ---- the servers' own counters ------------------------------------------------------------------

// Both sides are asked at the same moment, so that they count the same requests.
void Balancer::read_servers() {
  attribution_.cut(options_.loop.now());
  for (const ring::Node& node : view_->document().nodes) {
    samples_.ask(node.id, options_.links.store(node.id), view_, 1);
  }
  options_.links.poll(guarded(alive_, [this] {
    price_commands();
    for (const ring::Node& node : view_->document().nodes) {
      const ServerCounters* const counters = options_.links.counters(node.id);
      if (counters == nullptr) continue;
      attribution_.close(node.id, {.incarnation = counters->incarnation,
                                   .command_stats = counters->command_stats,
                                   .asked = counters->asked,
                                   .seen = counters->seen});
    }
  }));
}

void Balancer::hurry_samples() {
  for (const NodeId node : hurried_) {
    if (ring::find_node(view_->document(), node) == nullptr) continue;
    samples_.ask(node, options_.links.store(node), view_, balance::WalkPace::kHurryPages);
  }
}

void Balancer::price_commands() {
  for (const ring::Node& node : view_->document().nodes) {
    const ServerCounters* const counters = options_.links.counters(node.id);
    if (counters != nullptr) costs_.note(node.id, counters->command_stats, counters->cpu_us);
  }
  costs_.settle();
}

// With the gather behind the cut: what has not been answered by now is missing.
void Balancer::judge_interval() {
  for (const MoveStatus& move : options_.board.status()) {
    attribution_.moved(move.move.source);
    attribution_.moved(move.move.destination);
  }
  for (const ring::Move& move : view_->document().moves) {
    attribution_.moved(move.source);
    attribution_.moved(move.destination);
  }
  const CommandKinds* const kinds = options_.links.command_kinds();
  if (kinds == nullptr) return;
  for (const NodeId node : attribution_.judge(*kinds, options_.loop.now())) {
    const ring::Node* const known = ring::find_node(view_->document(), node);
    if (known == nullptr) continue;
    options_.decided(
        {.at = options_.loop.wall_now(),
         .kind = "advice",
         .subject = "node " + known->name,
         .reason = "about " + std::to_string(attribution_.unattributed(node).writes) +
                   " writes a second reach it past the routers: no planned move touches it while " +
                   "that goes on, because a move would lose such writes; let those clients use " +
                   "the router",
         .predicted = "",
         .real = ""});
  }
}

void Balancer::attribute(NodeFacts& facts) const {
  const Unattributed seen = attribution_.unattributed(facts.node);
  facts.unattributed_requests = seen.requests;
  facts.unattributed_writes = seen.writes;
  facts.foreign_writes = attribution_.foreign_writes(facts.node, options_.loop.now());
  facts.refuses = options_.board.refusal(facts.node, backend::End::kDestination);
  if (facts.refuses.empty())
    facts.refuses = options_.board.refusal(facts.node, backend::End::kSource);
}

std::string Balancer::bypass_warning(NodeId node) const {
  const ring::Node* const known =
      view_ == nullptr ? nullptr : ring::find_node(view_->document(), node);
  if (known == nullptr || !attribution_.foreign_writes(node, options_.loop.now())) return "";
  return "about " + std::to_string(attribution_.unattributed(node).writes) +
         " writes a second reach node '" + known->name +
         "' past the routers: those to the keys that move can be lost; stop them, or abort the "
         "move";
}

// ---- plans --------------------------------------------------------------------------------------

void Balancer::tick() {
  loop_.look(options_.loop.now(), options_.loop.wall_now());
  if (options_.plan.enabled) make_plan();
}

void Balancer::make_plan() {
  const UnixMillis now = options_.loop.wall_now();
  forget_ended(now);
  balance::TickFacts facts = tick_facts(now);
  facts.expected = expected_of(view_->document());
  balance::Plan plan = loop_.step(std::move(facts));
  add_outlook(plan, now);
  leave_out_unordered(plan);
  leave_out_scripts(plan);
  hold_proposal(plan);
  plan_id_ = id_of(plan, view_->epoch());
  plan_ = std::make_shared<const balance::Plan>(std::move(plan));
  planned_ = view_->epoch();
  publish(*plan_);
  const ring::Document& document = view_->document();
  const bool begins = document.mode == ring::Mode::kAuto || document.flatten;
  if (begins && !document.frozen) act(*plan_);
}

// While a person has everything flattened, in other modes than auto nothing else begins.
void Balancer::leave_out_unordered(balance::Plan& plan) const {
  const ring::Document& document = view_->document();
  if (!document.flatten || document.mode == ring::Mode::kAuto) return;
  std::erase_if(plan.moves, [](const balance::PlannedMove& move) {
    return move.cause != balance::Cause::kFlatten;
  });
}

// Under load the pieces differ a little from tick to tick: nobody could approve what he has read.
// What waits for a person stays as it was shown, while it is between the same nodes.
void Balancer::hold_proposal(balance::Plan& plan) {
  const UnixMillis now = options_.loop.wall_now();
  const ring::Document& document = view_->document();
  const bool waits = (document.mode != ring::Mode::kAuto && !document.flatten) || document.frozen ||
                     !balance::is_open(options_.plan.windows, now);
  const bool same = proposed_for_ == view_->epoch() &&
                    std::ranges::equal(plan.moves, proposed_moves_, same_ends) &&
                    (!proposed_moves_.empty() || !proposed_merges_.empty());
  if (waits && same && options_.loop.now() - proposed_at_ < kProposalStands) {
    plan.moves = proposed_moves_;
    plan.merges = proposed_merges_;
    return;
  }
  proposed_moves_ = plan.moves;
  proposed_merges_ = plan.merges;
  proposed_for_ = view_->epoch();
  proposed_at_ = options_.loop.now();
}

balance::TickFacts Balancer::tick_facts(UnixMillis now) {
  return {.nodes = node_facts(),
          .orders = {.flatten = view_->document().flatten, .windows = options_.plan.windows},
          .usual = usual_,
          .constants = options_.plan.constants,
          .now = now,
          .seed = options_.seed + ticks_};
}

// The planner does not see how far moves are; a node that waits for one waits until it is done.
void Balancer::add_outlook(balance::Plan& plan, UnixMillis now) const {
  for (const MoveStatus& running : options_.board.status()) {
    const ring::Move& move = running.move;
    const auto known = std::ranges::find(underway_, move.id, &Underway::id);
    if (known == underway_.end()) continue;
    const std::optional<UnixMillis> done = done_at({.started = move.started,
                                                    .keys_planned = known->promise.planned.keys,
                                                    .keys_copied = running.keys_copied},
                                                   now);
    if (!done) continue;
    for (balance::Verdict& verdict : plan.verdicts) {
      const bool waits = verdict.why == balance::Why::kInFlight &&
                         (verdict.node == move.source || verdict.node == move.destination);
      if (waits) verdict.until = std::max(verdict.until, *done);
    }
  }
}

// Lost to another edit, it is tried again at the next tick.
void Balancer::forget_ended(UnixMillis now) {
  const auto ended = [&](const ring::ExpectedEvent& event) { return event.end <= now; };
  if (forgetting_ || std::ranges::none_of(view_->document().expected, ended)) return;
  forgetting_ = true;
  options_.writer.edit(
      [now](const ring::Document& document) { return ring::forget_ended(document, now); },
      guarded(alive_, [this](const Result<SharedDocument>&) { forgetting_ = false; }));
}

Result<Presplit> Balancer::rehearse(const std::vector<Announcement>& events) {
  if (view_ == nullptr || picture() == nullptr || picture()->sources.empty())
    return fail(Code::kUnavailable, "no router has told its heat yet; ask again in a few seconds");
  if (picture()->epoch != view_->epoch())
    return fail(
        Code::kUnavailable,
        "the ring has just changed and its heat is not known yet; ask again in a few seconds");
  const UnixMillis now = options_.loop.wall_now();
  const RequestCosts costs{.commands = costs_.prices(), .mean_ns = mean_request_ns(*picture())};
  Presplit presplit;
  for (const Announcement& each : events) presplit.events.push_back(event_of(each, costs));
  const Result<ring::Document> next = ring::expect(view_->document(), presplit.events, now);
  if (!next) return std::unexpected(next.error());
  const std::vector<balance::Expected> expected = expected_of(*next);
  presplit.at = busiest(expected, now);
  for (const balance::Expected& each : expected) {
    const bool then = each.lead_from <= presplit.at && presplit.at < each.end;
    presplit.expected += then ? each.load : 0;
  }
  balance::TickFacts facts = tick_facts(presplit.at);
  facts.expected = expected;
  // All of it in one plan: live, one move a node is begun after the other.
  facts.constants.moves_out_max = kMovesAtOnce;
  facts.constants.moves_in_max = kMovesAtOnce;
  presplit.plan = balance::plan(loop_.input(std::move(facts)));
  return presplit;
}

std::vector<balance::NodeFacts> Balancer::node_facts() {
  std::vector<balance::NodeFacts> all;
  std::map<std::string, int> lives;
  for (const NodeFacts& seen : options_.links.facts()) ++lives[seen.incarnation.run_id];
  for (const NodeFacts& seen : options_.links.facts()) {
    balance::NodeFacts facts{.id = seen.node};
    facts.keys = seen.keys;
    facts.memory_bytes = seen.memory_bytes;
    facts.memory_bytes_max = seen.memory_bytes_max;
    const std::uint64_t held = seen.keys + seen.copies;
    if (held > 0 && seen.memory_bytes > kEmptyServerBytes)
      facts.bytes_per_key = (seen.memory_bytes - kEmptyServerBytes) / held;
    // What a copy takes is counted at its owner.
    facts.memory_bytes -= std::min(facts.memory_bytes, facts.bytes_per_key * seen.copies);
    facts.key_sample = samples_.of(seen.node, *view_);
    facts.healthy = seen.reachable;
    facts.rdb_version = seen.rdb_version;
    facts.refuses = options_.board.refusal(seen.node, backend::End::kDestination);
    if (std::string words = options_.board.refusal(seen.node, backend::End::kSource);
        !words.empty())
      facts.vetoes.push_back("its last move was refused: " + std::move(words));
    facts.unattributed_writes = attribution_.foreign_writes(seen.node, options_.loop.now()) &&
                                !options_.mutations.strangers_ignored;
    if (seen.reachable && !seen.primary) facts.vetoes.emplace_back("its server is a replica");
    if (seen.reachable && (!seen.marked || options_.mutations.marker_unread))
      facts.vetoes.emplace_back("its server does not carry this pool's marker");
    if (seen.reachable && lives[seen.incarnation.run_id] > 1)
      facts.vetoes.emplace_back("its server is known under two names");
    all.push_back(std::move(facts));
  }
  hurried_ = balance::hurried_walks(all, options_.plan.constants, options_.loop.wall_now());
  for (balance::NodeFacts& facts : all) {
    if (!samples_.answers(facts.id)) facts.sample_due = UnixMillis{};
  }
  return all;
}

void Balancer::act(const balance::Plan& plan) {
  const bool open = balance::is_open(options_.plan.windows, options_.loop.wall_now());
  for (const balance::PlannedMove& planned : plan.moves) {
    if (open || !balance::waits_for_window(planned.cause)) begin(planned);
  }
  for (const ring::TokenRange& range : plan.merges) merge(range);
}

Result<std::uint64_t> Balancer::approve(const std::string& plan) {
  if (view_ != nullptr && view_->document().mode == ring::Mode::kObserve)
    return fail(Code::kConflict,
                "the mode is observe: nothing is begun in it; see 'cleave mode approve'");
  if (view_ != nullptr && view_->document().frozen)
    return fail(Code::kConflict, "the pool is frozen; see 'cleave resume'");
  if (plan_ == nullptr || plan_id_.empty())
    return fail(Code::kConflict, "there is nothing to approve; see 'cleave plan'");
  if (plan != plan_id_)
    return fail(Code::kConflict,
                "the plan is another one now, " + plan_id_ + "; see 'cleave plan'");
  // Its moves could not begin any more, and would count as failed.
  if (planned_ != view_->epoch())
    return fail(Code::kConflict, "the ring has changed since the plan was made; ask again shortly");
  const auto wanted = std::ranges::count_if(
      plan_->moves, [this](const balance::PlannedMove& planned) { return begin(planned); });
  for (const ring::TokenRange& range : plan_->merges) merge(range);
  return static_cast<std::uint64_t>(wanted);
}

bool Balancer::begin(const balance::PlannedMove& planned) {
  // The document does not show it until it has begun; a plan made meanwhile would want it twice.
  const bool wanted = std::ranges::any_of(underway_, [&](const Underway& other) {
    const balance::PlannedMove& before = other.promise.planned;
    return before.source == planned.source || before.destination == planned.destination;
  });
  if (wanted) return false;
  underway_.push_back({.promise = loop_.promise(planned), .id = {}});
  options_.decided({.at = options_.loop.wall_now(),
                    .kind = "move",
                    .subject = describe(planned.ranges),
                    .reason = planned.reason,
                    .predicted = std::to_string(planned.load / 1'000) + " us/s, about " +
                                 std::to_string(planned.keys) + " keys",
                    .real = "",
                    .passed_over = named(planned.alternatives),
                    .move = decided_move(planned)});
  warn_of_scripts(planned.ranges);
  options_.board.want(
      {.ranges = planned.ranges,
       .source = planned.source,
       .destination = planned.destination,
       .reason = planned.reason,
       .now = options_.loop.wall_now(),
       .pin_until = planned.pin_until},
      guarded(alive_, [this, planned](const Result<MoveId>& id) { begun(planned, id); }));
  return true;
}

void Balancer::begun(const balance::PlannedMove& planned, const Result<MoveId>& id) {
  const auto found = std::ranges::find_if(
      underway_, [&](const Underway& each) { return !each.id && each.promise.planned == planned; });
  if (found == underway_.end()) return;
  if (id) {
    found->id = *id;
  } else {
    underway_.erase(found);
  }
}

void Balancer::merge(const ring::TokenRange& range) {
  const UnixMillis now = options_.loop.wall_now();
  options_.writer.edit_once(
      "merge " + ring::to_string(range),
      [range, now](const ring::Document& document) {
        return ring::merge_cuts(document, range, now);
      },
      guarded(alive_, [this, range](Result<SharedDocument> merged) {
        if (!merged) return;
        options_.decided({.at = options_.loop.wall_now(),
                          .kind = "merge",
                          .subject = describe(range),
                          .reason = "cold for long enough: its boundary is not needed",
                          .predicted = "",
                          .real = ""});
      }));
}

void Balancer::move_ended(const MoveRecord& record) {
  // It may have come and gone between two looks at the board.
  attribution_.moved(record.move.source);
  attribution_.moved(record.move.destination);
  looks_left_ = kLooksAfterMove;
  const auto found = std::ranges::find(underway_, record.move.id, &Underway::id);
  std::optional<balance::Promise> promise;
  if (found != underway_.end()) {
    promise = std::move(found->promise);
    underway_.erase(found);
  }
  loop_.ended({.ranges = record.move.ranges,
               .source = record.move.source,
               .destination = record.move.destination,
               .ended = record.ended,
               .committed = record.end == MoveEnd::kCommitted,
               .keys = record.keys_copied},
              promise, options_.loop.now());
}

DecidedMove Balancer::decided_move(const balance::PlannedMove& planned) const {
  return {.id = {},
          .source = name_of(view_->document(), planned.source),
          .destination = name_of(view_->document(), planned.destination),
          .ranges = planned.ranges,
          .keys = planned.keys,
          .bytes = planned.bytes,
          .source_before = planned.source_before,
          .source_after = planned.source_after,
          .destination_before = planned.destination_before,
          .destination_after = planned.destination_after};
}

std::vector<PassedOver> Balancer::named(
    const std::vector<balance::Alternative>& alternatives) const {
  std::vector<PassedOver> names;
  for (const balance::Alternative& each : alternatives) {
    const ring::Node* const node = ring::find_node(view_->document(), each.node);
    if (node != nullptr) names.push_back({.node = node->name, .why = each.why});
  }
  return names;
}

// Why nothing happens is told when it begins to be so, not at each tick.
void Balancer::publish(const balance::Plan& plan) {
  std::map<std::string, std::string> standing;
  for (const balance::Verdict& verdict : plan.verdicts) {
    const std::string about = std::string(to_string(verdict.why)) + " " +
                              std::to_string(verdict.node.value()) +
                              (verdict.token ? " " + ring::to_hex(*verdict.token) : "");
    standing[about] = verdict.text;
    if (published_.contains(about)) continue;
    const ring::Node* node = ring::find_node(view_->document(), verdict.node);
    const bool unsplittable = verdict.why == balance::Why::kUnsplittable;
    std::string subject = node != nullptr ? "node " + node->name : "the pool";
    if (unsplittable && !verdict.key.empty()) subject = shown(verdict.key);
    options_.decided({.at = options_.loop.wall_now(),
                      .kind = unsplittable ? "unsplittable" : "nothing",
                      .subject = std::move(subject),
                      .reason = std::string(to_string(verdict.why)) + ": " + verdict.text,
                      .predicted = "",
                      .real = "",
                      .passed_over = named(verdict.alternatives),
                      .until = verdict.until});
  }
  if (!plan.advice.empty()) {
    standing["advice"] = plan.advice;
    if (!published_.contains("advice")) {
      options_.decided({.at = options_.loop.wall_now(),
                        .kind = "advice",
                        .subject = "the pool",
                        .reason = plan.advice,
                        .predicted = "",
                        .real = ""});
    }
  }
  published_ = std::move(standing);
}

}  // namespace cleave::control
