#include "control/controller.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/own_names.h"
#include "control/controller_impl.h"
#include "control/observe/key_count.h"
#include "control/observe/usual_levels.h"
#include "control/orders/describe.h"

namespace cleave::control {
namespace {

constexpr seconds kPollInterval{1};
constexpr milliseconds kHeardLately{2'500};
constexpr milliseconds kCountPatience{2'500};
constexpr seconds kStopPatience{5};
constexpr std::size_t kRecordsMax = 1'000;

template <class T>
void keep_newest(std::deque<T>& kept, T value) {
  kept.push_front(std::move(value));
  if (kept.size() > kRecordsMax) kept.pop_back();
  CHECK(kept.size() <= kRecordsMax);
}

}  // namespace

Controller::Impl::Impl(Options given)
    : options(std::move(given)),
      writer(
          options.loop, options.store, [this](const SharedDocument& seen) { see(seen); },
          options.mutations),
      membership(options.loop, writer,
                 {.session = options.document.session,
                  .peer_address = options.document.peer_address,
                  .creation = options.begin.creation,
                  .may_create = [this](auto may) { first_ring().ask(std::move(may)); },
                  .publish = options.document.publish,
                  .removed = options.document.removed,
                  .log = options.tell.log,
                  .mutations = options.mutations}),
      leadership(options.loop, options.store, writer,
                 {.session = options.document.session,
                  .lease = options.document.lease,
                  .leads = [this](const SharedDocument& seen) { begin_term(seen); },
                  .lost = [this] { end_term(); },
                  .log = options.tell.log,
                  .all_heard = options.document.last_asked ? [this] { return all_heard(); }
                                                           : std::function<bool()>{},
                  .mutations = options.mutations}) {}

FirstRing& Controller::Impl::first_ring() {
  if (first == nullptr)
    first = std::make_unique<FirstRing>(
        FirstRing::Options{.look = {.loop = options.loop,
                                    .nodes = options.begin.creation.nodes,
                                    .credentials = options.servers.credentials,
                                    .limits = options.limits,
                                    .session = options.document.session,
                                    .seed = options.seed},
                           .pool = options.begin.creation.pool,
                           .places = options.begin.places});
  return *first;
}

// The leader asks every router each second; so each knows of the other.
bool Controller::Impl::all_heard() const {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr) return false;
  const Instant now = options.loop.now();
  CHECK(options.document.last_asked != nullptr);
  if (!leadership.leads()) return now - options.document.last_asked() < kHeardLately;
  const std::vector<SessionId> sessions = ring::sessions_of(view->document());
  return std::ranges::all_of(sessions, [&](const SessionId& session) {
    const Balancer::Heard* heard = balancer == nullptr ? nullptr : balancer->heard(session);
    return session == options.document.session ||
           (heard != nullptr && now - heard->at < kHeardLately);
  });
}

void Controller::Impl::start() {
  leadership.start();
  membership.join([this] {
    leadership.joined();
    // Not at once: one of its answers may have led here.
    options.loop.post(guarded(alive, [this] { first.reset(); }));
    options.tell.log("session " + options.document.session.value() + " joined the ring at epoch " +
                     std::to_string(membership.view()->epoch().value()));
  });
}

// Views first: a router must hold before the driver waits for it.
void Controller::Impl::see(const SharedDocument& document) {
  CHECK(document != nullptr && document->epoch != Epoch{});
  membership.follow(document);
  leadership.follow(document);
  if (links != nullptr) links->follow(document);
  if (board != nullptr) board->see(document);
  if (balancer != nullptr && membership.view() != nullptr) balancer->see(membership.view());
}

void Controller::Impl::begin_term(const SharedDocument& document) {
  CHECK(board == nullptr && links == nullptr && balancer == nullptr);  // no term within a term
  CHECK(document->leader.session == options.document.session);
  const Result<ring::RingSnapshot> view = ring::RingView::build(*document);
  if (!view) return options.tell.log("cannot lead: " + view.error().message);
  copies = std::make_shared<CopyCounts>();
  links = std::make_unique<NodeLinks>(
      NodeLinks::Options{.loop = options.loop,
                         .writer = writer,
                         .leader = document->leader,
                         .servers = options.servers,
                         .limits = options.limits,
                         .mutations = options.mutations,
                         .seed = options.seed ^ document->leader.term.value(),
                         .log = options.tell.log,
                         .copies = copies});
  links->follow(document);
  board = std::make_unique<MoveBoard>(MoveBoard::Options{
      .loop = options.loop,
      .writer = writer,
      .directory = options.directory,
      .links = *links,
      .view = *view,
      .leader = document->leader,
      .limits = options.limits,
      .mutations = options.mutations,
      .copies = copies,
      .ended = [this](const MoveRecord& record) { move_ended(record); },
      .decided = [this](DecisionRecord decision) { decide(std::move(decision)); }});
  balancer = std::make_unique<Balancer>(Balancer::Options{
      .loop = options.loop,
      .writer = writer,
      .directory = options.directory,
      .links = *links,
      .board = *board,
      .plan = options.plan,
      .seed = options.seed,
      .mutations = options.mutations,
      .new_strays = [this] { return stray_watch != nullptr && stray_watch->new_strays(); },
      .decided = [this](DecisionRecord decision) { decide(std::move(decision)); }});
  balancer->see(*view);
  set_usual(usual);
  watch_strays();
  poll_nodes();
}

void Controller::Impl::watch_strays() {
  CHECK(links != nullptr && board != nullptr && balancer != nullptr);
  const auto view = [this] { return membership.view(); };
  const auto list = [this](NodeId node, const std::string& cursor, StrayWatch::Listed listed) {
    const std::shared_ptr<backend::RedisStore> store = links->store(node);
    if (store == nullptr || !store->usable()) return false;
    const auto others = [](std::string_view key) { return !key.starts_with(kOwnKeyPrefix); };
    store->list(cursor, others, std::move(listed));
    return true;
  };
  fitting.reset();
  next_survey = {};
  stray_watch = std::make_unique<StrayWatch>(StrayWatch::Options{
      .loop = options.loop,
      .list = list,
      .view = view,
      .decided = [this](DecisionRecord decision) { decide(std::move(decision)); },
      .does_not_fit = [this] { look_for_fit(); }});
  surveyor = std::make_unique<Surveyor>(Surveyor::Options{
      .loop = options.loop, .links = *links, .strays = *stray_watch, .view = view});
  const auto moving = [this] {
    return stopping || !board->idle() || !membership.view()->document().moves.empty();
  };
  mover = std::make_unique<StrayMover>(
      StrayMover::Options{.loop = options.loop,
                          .links = *links,
                          .view = view,
                          .moving = moving,
                          .touched = [this](NodeId node) { balancer->wrote(node); }});
}

void Controller::Impl::set_usual(const std::vector<history::HeatPoint>& points) {
  usual = points;
  if (balancer != nullptr) balancer->set_usual(usual_levels(usual, membership.view()->document()));
}

void Controller::Impl::end_term() {
  CHECK(!leadership.leads());
  options.tell.log("leads no more: term " + std::to_string(leadership.leader().term.value()) +
                   " has ended");
  mover.reset();
  balancer.reset();
  surveyor.reset();
  stray_watch.reset();
  board.reset();
  links.reset();
}

void Controller::Impl::poll_nodes() {
  if (links == nullptr || stopping) return;
  links->poll([] {});
  options.loop.after(kPollInterval, guarded(alive, [this, term = leadership.leader().term] {
                       if (leadership.leader().term == term) poll_nodes();
                     }));
}

void Controller::Impl::move_ended(const MoveRecord& record) {
  if (balancer != nullptr) balancer->move_ended(record);
  CHECK((record.move.id == MoveId{}) == (record.end == MoveEnd::kRefused));
  const bool committed = record.end == MoveEnd::kCommitted;
  const bool began = record.end != MoveEnd::kRefused;
  const std::string real = std::to_string(record.keys_copied) + " keys, " +
                           std::to_string(record.bytes_copied) + " bytes, held for " +
                           std::to_string(record.fenced.count()) + " us";
  decide({.at = record.ended,
          .kind = committed ? "moved"
                  : began   ? "aborted"
                            : "refused",
          .subject = describe(record.move.ranges),
          .reason = committed ? record.move.reason : record.why,
          .predicted = "",
          .real = began ? real : "",
          .move = decided_move(record.move, record.keys_copied, record.bytes_copied)});
  if (began) ++(committed ? totals.committed : totals.aborted);
  totals.keys += record.keys_copied;
  totals.bytes += record.bytes_copied;
  keep_newest(ended, record);
}

DecidedMove Controller::Impl::decided_move(const ring::Move& move, std::uint64_t keys,
                                           std::uint64_t bytes) const {
  const ring::Document& document = membership.view()->document();
  return {.id = move.id,
          .source = name_of(document, move.source),
          .destination = name_of(document, move.destination),
          .ranges = move.ranges,
          .keys = keys,
          .bytes = bytes};
}

void Controller::Impl::decide(DecisionRecord decision) {
  CHECK(!decision.kind.empty());
  if (options.tell.decided) options.tell.decided(decision);
  keep_newest(decisions, std::move(decision));
}

Status Controller::Impl::status() const {
  Status status{.view = membership.view(),
                .session = options.document.session,
                .leader = leadership.leads(),
                .term = leadership.leader().term,
                .coordinator = writer.trouble().empty() ? "ok" : writer.trouble(),
                .coordinator_state = writer.state(),
                .routers = {},
                .moves = {},
                .ended = {ended.begin(), ended.end()},
                .totals = totals,
                .decisions = {decisions.begin(), decisions.end()},
                .nodes = {},
                .heat = nullptr,
                .plan = nullptr,
                .plan_id = {},
                .held = membership.held()};
  if (membership.view() != nullptr) status.term = membership.view()->document().leader.term;
  if (membership.view() != nullptr) add_routers(status);
  if (board != nullptr) {
    status.moves = board->status();
    status.leftovers = board->leftovers();
  } else if (membership.view() != nullptr) {
    for (const ring::Leftover& entry : membership.view()->document().leftovers)
      status.leftovers.push_back({.entry = entry, .step = std::string(to_string(entry.state))});
    for (const ring::Move& move : membership.view()->document().moves)
      status.moves.push_back({.move = move,
                              .step = std::string(to_string(move.phase)),
                              .waits_for = "the leader knows"});
  }
  if (links != nullptr) status.nodes = links->facts();
  if (stray_watch != nullptr) {
    bool misfit = false;
    for (NodeFacts& facts : status.nodes) {
      facts.strays = stray_watch->facts(facts.node);
      misfit = misfit || facts.strays.count.share_ppm() > kMisplacedMaxPpm;
    }
    if (misfit) status.fits = fitting;
  }
  if (balancer != nullptr) {
    for (NodeFacts& facts : status.nodes) balancer->attribute(facts);
    status.heat = balancer->picture();
    status.plan = balancer->plan();
    status.plan_id = balancer->plan_id();
  }
  return status;
}

void Controller::Impl::add_routers(Status& status) const {
  CHECK(membership.view() != nullptr);
  const ring::Document& document = membership.view()->document();
  for (const ring::Router& router : document.routers) {
    RouterStatus known{.session = router.session,
                       .peer = router.peer,
                       .leader = router.session == document.leader.session,
                       .view = {},
                       .heard = std::nullopt};
    if (router.session == options.document.session) {
      known.view = document.epoch;
      known.heard = milliseconds{0};
    } else if (balancer != nullptr && balancer->heard(router.session) != nullptr) {
      const Balancer::Heard& heard = *balancer->heard(router.session);
      known.view = heard.view;
      known.heard = std::chrono::duration_cast<milliseconds>(options.loop.now() - heard.at);
    }
    status.routers.push_back(std::move(known));
  }
}

// ---- a clean stop -------------------------------------------------------------------------------

void Controller::Impl::stop(std::function<void()> stopped) {
  stopping = true;
  mover.reset();
  balancer.reset();
  if (board != nullptr) board->wind_down("the router is being stopped");
  wind_down(std::move(stopped), options.loop.now() + kStopPatience);
}

// Moves past their commit are finished while patience lasts; the next leader would finish them too.
void Controller::Impl::wind_down(std::function<void()> stopped, Instant deadline) {
  const bool moving = board != nullptr && !board->idle();
  if (!moving || options.loop.now() > deadline) return leave(std::move(stopped));
  options.loop.after(milliseconds{20},
                     guarded(alive, [this, stopped, deadline] { wind_down(stopped, deadline); }));
}

void Controller::Impl::leave(std::function<void()> stopped) {
  leadership.stop();
  if (!membership.is_member()) return options.loop.post(std::move(stopped));
  const auto ended_lease = [stopped](const Result<void>&) { stopped(); };
  const auto left = [this, ended_lease](const Result<SharedDocument>&) {
    options.store.end_lease(options.document.session, guarded(alive, ended_lease));
  };
  membership.leave(guarded(alive, left));
}

// ---- what the data path asks --------------------------------------------------------------------

// One question at a time: whoever asks meanwhile waits for the next one, which begins after he has
// asked. One that nobody answers, as its term has ended, is given up.
void Controller::Impl::count_keys(Counted done) {
  counters.push_back(std::move(done));
  if (count_asked == Instant{0} || options.loop.now() > count_asked + kCountPatience) ask_count();
}

void Controller::Impl::ask_count() {
  CHECK(!counters.empty());
  count_asked = options.loop.now();
  ask_leader(guarded(alive, [this, asked = count_asked,
                             waiting = std::exchange(counters, {})](Result<std::uint64_t> keys) {
    for (const Counted& each : waiting) each(keys);
    if (asked != count_asked) return;
    count_asked = Instant{0};
    if (!counters.empty()) ask_count();
  }));
}

// The leader knows how many copies of moves lie where.
void Controller::Impl::ask_leader(Counted done) {
  CHECK(done != nullptr);
  if (board != nullptr) return count_as_leader(std::move(done));
  const ring::RingSnapshot& view = membership.view();
  peer::RouterPeer* leader =
      view == nullptr ? nullptr : options.directory.find(view->document().leader.session);
  if (leader != nullptr && view->document().leader.session != options.document.session)
    return leader->count_keys(std::move(done));
  options.loop.post([done = std::move(done), why = not_leading()] { done(std::unexpected(why)); });
}

void Controller::Impl::count_as_leader(Counted done) {
  CHECK(done != nullptr);
  std::vector<KeyCountOf> servers;
  if (board != nullptr) {
    for (const NodeFacts& facts : links->facts())
      servers.push_back({.node = facts.node, .store = links->store(facts.node)});
  }
  if (!servers.empty()) return control::count_keys(std::move(servers), copies, std::move(done));
  options.loop.post([done = std::move(done), why = not_leading()] { done(std::unexpected(why)); });
}

// Rule 11. Whoever is first, any router may do it; a lost race is answered by the document. Asked
// for as long as the range is held.
void Controller::Impl::abort_held_move(MoveId move, Epoch phase_epoch) {
  writer.edit_once(
      purpose_of_abort(move),
      [move, phase_epoch](const ring::Document& document) {
        return ring::abort_move(document, move, phase_epoch);
      },
      [](const Result<SharedDocument>&) {});
}

// ---- the public face ----------------------------------------------------------------------------

Controller::Controller(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Controller::~Controller() = default;

void Controller::start() { impl_->start(); }
void Controller::stop(std::function<void()> stopped) { impl_->stop(std::move(stopped)); }
void Controller::set_usual(const std::vector<history::HeatPoint>& points) {
  impl_->set_usual(points);
}

backend::Gate& Controller::gate() { return impl_->membership; }
peer::FenceKeeper& Controller::fence_keeper() { return *impl_; }
peer::KeyCounter& Controller::key_counter() { return *impl_; }
Operator& Controller::orders() { return *impl_; }
Recovery& Controller::recovery() { return *impl_; }

}  // namespace cleave::control
