#include "sim/world/world.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/own_names.h"
#include "sim/world/faults.h"
#include "sim/world/mover.h"

namespace cleave::sim {
namespace {

constexpr std::uint64_t kWorldRng = 0x776F726C64;
constexpr nanoseconds kTick = milliseconds{10};
constexpr std::uint64_t kTicksALook = 100;  // at what routers have decided
constexpr milliseconds kCalmTraffic{300};   // clients go on after the faults have ended
constexpr milliseconds kRestPatience{30'000};
constexpr milliseconds kFreezePatience{1'000};
constexpr milliseconds kReadPatience{20'000};
constexpr std::string_view kMarkerKey = "cleave:{owner}";
constexpr std::string_view kNoteKey = "cleave:{ring}";
constexpr std::string_view kMark = "the pool of this world";
constexpr int kForeignKeys = 20;
constexpr std::uint64_t kMovesMin = 3;
constexpr milliseconds kMovePatience{60'000};  // in calm, until so many were committed
constexpr std::size_t kBackupsMax = 40;
constexpr milliseconds kBackupTime{2'500};
// Who hears of the others looks at the coordinator each eight seconds only.
constexpr milliseconds kRareBackupTime{10'000};
constexpr std::int64_t kBaseSkewMax = 20;
// Clocks that differ by so much for so long were seen by whoever began a move: a clock is asked
// within one round trip, and what was found is written within the outages of a world.
constexpr std::int64_t kSkewSeen = 2'500;
constexpr seconds kSkewSeenAfter{10};
// Of a fence: in calm its cap and a few round trips; else whatever keeps its end from the document.
constexpr milliseconds kCalmFenceSlack{100};
constexpr milliseconds kFenceMax{15'000};

}  // namespace

std::string to_line(const Report& report) {
  return "seed " + std::to_string(report.seed) + " (" + std::string(to_string(report.flavour)) +
         ") trace " + std::to_string(report.trace_hash) + ": " + std::to_string(report.operations) +
         " ops, " + std::to_string(report.writes_acknowledged) + " writes acknowledged, " +
         std::to_string(report.unknown) + " unknown, " + std::to_string(report.committed) +
         " moves committed, " + std::to_string(report.aborted) + " aborted, " +
         std::to_string(report.routers) + " routers, " + std::to_string(report.virtual_seconds) +
         " s, " + std::to_string(report.faults) + " faults, " +
         std::to_string(report.lost_at_servers) + " keys set back by servers, " +
         std::to_string(report.leftovers) + " leftovers, longest fence " +
         std::to_string(report.longest_fence_us) + " us, " + std::to_string(report.events) +
         " events, " + std::to_string(report.violations.size()) + " violations";
}

World::World(std::uint64_t seed, const Mutations& mutations, std::ostream* log)
    : World(seed, make_profile(seed), mutations, log) {}

World::World(std::uint64_t seed, const Profile& profile, const Mutations& mutations,
             std::ostream* log)
    : seed_(seed),
      mutations_(mutations),
      log_(log),
      profile_(profile),
      scheduler_(seed),
      network_(scheduler_, {}),
      rng_(scheduler_.fork(kWorldRng)),
      coordinator_(scheduler_, network_, [this](const coord::Stored& stored) { changed(stored); }) {
  coordinator_.set_options(profile_.coordinator);
  coordinator_.set_lease(profile_.lease);
  make_servers();
  for (std::size_t i = 0; i < profile_.routers; ++i) add_router();
  workload_ = std::make_unique<Workload>(scheduler_, network_, profile_.workload, [this] {
    std::vector<net::Address> serving;
    for (const auto& router : routers_)
      if (router->serving()) serving.push_back(router->address());
    return serving;
  });
  std::vector<std::string> keys = workload_->keys();
  keys.insert(keys.end(), workload_->collections().begin(), workload_->collections().end());
  ownership_ = std::make_unique<OwnershipChecker>(std::move(keys));
  leftovers_ = std::make_unique<LeftoverChecker>(
      servers_, profile_.lossy_servers || profile_.faults.failover > 0);
  strangers_ = std::make_unique<Strangers>(scheduler_, network_, servers_);
  if (profile_.balancing.on) {
    balance_ = std::make_unique<BalanceChecker>(servers_.size(), profile_.balancing.constants,
                                                *strangers_);
    if (profile_.unmarked_server) balance_->unmarked(servers_.size() - 1);
    if (profile_.faults.total() > 0 || profile_.foreign_keys) balance_->may_refuse();
  }
  faults_ = std::make_unique<Faults>(*this);
  mover_ = std::make_unique<Mover>(*this);
  fill_servers(creation());
}

World::~World() {
  for (const auto& router : routers_)
    if (router->running()) router->crash(Death::kProcess);
  // Events hold what belongs to loops and streams, so they go first.
  scheduler_.clear();
}

void World::log(const std::string& line) {
  if (log_ != nullptr) *log_ << scheduler_.now().count() / 1'000 << " us " << line << '\n';
}

nanoseconds World::up_to(nanoseconds bound) {
  return nanoseconds(rng_.below(static_cast<std::uint64_t>(bound.count())));
}

// ---- making
// ---------------------------------------------------------------------------------------

void World::make_servers() {
  for (std::size_t i = 0; i < profile_.servers; ++i) {
    ModelServer::Options options{
        .address = {"10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1), 6379},
        .password = {},
        .command_max = profile_.command_max,
        .key_command_max = profile_.balancing.key_command_max,
        .clock_skew_ms = static_cast<std::int64_t>(rng_.below(kBaseSkewMax)),
        .durable = !profile_.lossy_servers,
        .seed = i};
    clocks_.push_back({.base_ms = options.clock_skew_ms, .skew_ms = options.clock_skew_ms});
    servers_.push_back(std::make_unique<ModelServer>(scheduler_, network_, std::move(options)));
    servers_.back()->observe(
        [this, i](const ModelServer&, std::span<const std::string> args,
                  std::string_view connection) { observe(i, args, connection); });
    looks_.emplace_back();
  }
}

ring::Creation World::creation() const {
  ring::Creation made{.pool = "main",
                      .mark = std::string(kMark),
                      .nodes = {},
                      .mode = profile_.balancing.on ? ring::Mode::kAuto : ring::Mode::kObserve,
                      .now = UnixMillis{1'700'000'000'000}};
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    ring::Node node;
    node.name = "node" + std::to_string(i);
    node.members = {{.address = net::to_string(servers_[i]->options().address), .rack = ""}};
    made.nodes.push_back(std::move(node));
  }
  return made;
}

void World::add_router() {
  const std::size_t i = routers_.size();
  const std::string host = kRouterHosts + std::to_string(i + 1);
  const auto rates = static_cast<std::uint64_t>(profile_.clock_rate_max * 2 + 1);
  SimRouter::Options options{
      .name = "router" + std::to_string(i),
      .address = {host, 6380},
      .door = {host, 7380},
      .spares_coordinator = profile_.spares_coordinator,
      .workers = profile_.workers,
      .creation = creation(),
      .limits = profile_.limits,
      .balance = profile_.balancing.on,
      .constants = profile_.misled.constants.value_or(profile_.balancing.constants),
      .lease = profile_.misled.lease.value_or(profile_.lease),
      .clock_rate = static_cast<std::int64_t>(rng_.below(rates)) - profile_.clock_rate_max,
      .seed = seed_ * 100 + i,
      .mutations = mutations_,
      .log = [this](const std::string& session,
                    const std::string& line) { log(session + ": " + line); },
      .broken = [this](const std::string& violation) { violations_.push_back(violation); }};
  routers_.push_back(std::make_unique<SimRouter>(network_, coordinator_, std::move(options)));
}

// Keys of somebody else: on a server that will have no marker, and in some worlds on one with it,
// one of them under the name of a key that clients use.
void World::fill_servers(const ring::Creation& made) {
  const Result<ring::Document> document = ring::create(made);
  CHECK(document.has_value());
  const Result<ring::RingSnapshot> view = ring::RingView::build(*document);
  CHECK(view.has_value());
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Keyspace& keys = servers_[i]->current();
    const bool unmarked = is_unmarked(i);
    for (int n = 0; unmarked && n < kForeignKeys; ++n) {
      const std::string key = "foreign" + std::to_string(n);
      const std::string value = "precious" + std::to_string(n);
      keys.put(key, {.value = value});
      leftovers_->add_foreign(i, key, value,
                              server_of(**view, (*view)->owner((*view)->token_of(key))) == i);
    }
    keys.sync();
  }
  if (profile_.foreign_keys) add_foreign_keys(**view);
}

void World::add_foreign_keys(const ring::RingView& view) {
  const std::string used = workload_->keys()[rng_.below(workload_->keys().size())];
  for (const std::string& key : {used, std::string("foreign"), std::string("another")}) {
    const std::size_t server = rng_.below(servers_.size());
    if (server_of(view, view.owner(view.token_of(key))) == server) continue;
    const std::string value = "precious " + key;
    servers_[server]->current().put(key, {.value = value});
    servers_[server]->current().sync();
    leftovers_->add_foreign(server, key, value, /*owned=*/false);
  }
}

// A person adopts the servers once there is a ring: before, a marker would say that it was lost.
void World::adopt_servers() {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (is_unmarked(i)) continue;
    servers_[i]->current().put(kMarkerKey, {.value = std::string(kMark)});
    servers_[i]->current().sync();
  }
}

bool World::is_unmarked(std::size_t server) const {
  return profile_.unmarked_server && server + 1 == servers_.size();
}

// ---- running
// --------------------------------------------------------------------------------------

void World::changed(const coord::Stored& stored) {
  if (restored_) violations_.emplace_back("backup: somebody writes to a register that went back");
  const ring::RingSnapshot before = checker_.view();
  checker_.see(stored, scheduler_.now());
  const ring::RingSnapshot& after = checker_.view();
  if (backups_.size() >= kBackupsMax) backups_.erase(backups_.begin());
  backups_.push_back(stored);
  if (before == nullptr && after != nullptr) adopt_servers();
  if (before == nullptr || after == nullptr) return;
  leftovers_->changed(*before, *after, scheduler_.now());
  if (balance_ != nullptr) balance_->changed(*before, *after, scheduler_.now());
  settle_losses(*before, *after);
  check_begun(*before, *after);
  faults_->see(*before, *after);
}

void World::observe(std::size_t server, std::span<const std::string> args,
                    std::string_view connection) {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr) return;
  ownership_->see(*view, view->document().nodes[server].id, args, connection);
  if (!OwnershipChecker::is_driver(connection)) {
    if (balance_ != nullptr && args.size() > 1 && connection.starts_with(kConnectionPrefix))
      balance_->ran(server, args[1], servers_[server]->took(), scheduler_.now());
    return;
  }
  leftovers_->ran(*view, server, args, scheduler_.now());
  if (args.size() > 1 && args[0] == "DUMP") faults_->read_for_copy(server, args[1]);
  // INFO replication is what a look at who the server is rests on: a failover behind it is not
  // seen, even when the rest of the look comes later. INFO memory means that it was a mere poll.
  if (args.size() < 2) return;
  Looks& looks = looks_[server];
  if (args[1] == "replication") looks = {.last = scheduler_.now(), .before = looks.last};
  if (args[1] == "memory") looks.last = looks.before;
  leftovers_->looked(server, looks.last);
}

// "Expiry": no move between servers whose clocks differ.
void World::check_begun(const ring::RingView& before, const ring::RingView& after) {
  for (const ring::Move& move : after.document().moves) {
    if (ring::find_move(before.document(), move.id) != nullptr) continue;
    const ServerClock source = clocks_[server_of(after, move.source)];
    const ServerClock destination = clocks_[server_of(after, move.destination)];
    const std::int64_t skew = std::abs(source.skew_ms - destination.skew_ms);
    const Instant since = std::max(source.since, destination.since);
    if (skew > kSkewSeen && scheduler_.now() - since > kSkewSeenAfter)
      violations_.push_back("clocks: a move began between servers whose clocks differ by " +
                            std::to_string(skew) + " ms");
  }
}

void World::set_clock(std::size_t server, std::int64_t jump_ms) {
  ServerClock& clock = clocks_[server];
  const std::int64_t skew = clock.base_ms + jump_ms;
  if (skew == clock.skew_ms) return;
  log("clock of server " + std::to_string(server) + " jumps to " + std::to_string(skew) + " ms");
  clock.skew_ms = skew;
  clock.since = scheduler_.now();
  servers_[server]->set_clock_skew(skew);
}

std::vector<SimRouter*> World::staying() const {
  std::vector<SimRouter*> routers;
  for (const auto& router : routers_)
    if (!router->retired()) routers.push_back(router.get());
  return routers;
}

SimRouter* World::leader() {
  for (const auto& router : routers_) {
    if (!router->running() || router->process().paused()) continue;
    if (router->controller()->orders().status().leader) return router.get();
  }
  return nullptr;
}

void World::tick() {
  for (std::size_t i = 0; i < routers_.size(); ++i) {
    SimRouter& router = *routers_[i];
    if (!router.running() || router.process().paused() || !router.wants_restart()) continue;
    router.crash(Death::kProcess);
    if (!router.retired()) restart_router(i, up_to(milliseconds{100}));
  }
  if (++ticks_ % kTicksALook == 0) {
    check_left_behind();
    check_plan();
  }
  scheduler_.at(scheduler_.now() + kTick, [this] { tick(); });
}

// A server that refuses ends the move; it is no reason to call a key unmovable.
void World::check_left_behind() {
  for (const auto& router : routers_) {
    if (!router->running()) continue;
    for (const control::DecisionRecord& each : router->controller()->orders().status().decisions) {
      const bool refused = each.reason.find("refused") != std::string::npos;
      if (each.kind != "unsplittable" || !refused) continue;
      violations_.push_back("left behind: " + each.subject + " " + each.reason);
      return;
    }
  }
}

void World::check_plan() {
  if (balance_ == nullptr) return;
  if (SimRouter* router = leader(); router != nullptr)
    balance_->look(router->controller()->orders().status(), scheduler_.now());
}

void World::restart_router(std::size_t index, nanoseconds delay) {
  scheduler_.at(scheduler_.now() + delay, [this, index] {
    if (!routers_[index]->running() && !routers_[index]->retired()) routers_[index]->start();
  });
}

void World::start_server(std::size_t index) {
  ModelServer& server = *servers_[index];
  if (server.running()) return;
  log("start server " + std::to_string(index));
  const bool loses = profile_.lossy_servers && rng_.chance(2, 3);
  lost_writes(index, server.start(loses ? rng_.below(server.keys().unsynced() + 1) : 0));
  leftovers_->life_changed(index, scheduler_.now());
}

template <class Condition>
bool World::run_while(Condition condition, milliseconds at_most) {
  const Instant deadline = scheduler_.now() + at_most;
  while (condition()) {
    if (scheduler_.now() >= deadline) return false;
    scheduler_.run_until(scheduler_.now() + kTick);
  }
  return true;
}

Report World::run() {
  Report report{.seed = seed_, .flavour = profile_.flavour};
  all_join(report);
  const std::uint64_t writes_before = coordinator_.writes_tried();
  faults_->start();
  mover_->start();
  scheduler_.run_until(scheduler_.now() + profile_.active);
  come_to_rest(report);
  report.coordinator_writes = coordinator_.writes_tried() - writes_before;
  check_servers(report);
  check_fences(report);
  if (profile_.old_backup) restore_old_backup(report);
  if (profile_.lost_ring) lose_ring(report);
  fill(report);
  return report;
}

void World::all_join(Report& report) {
  for (std::size_t i = 0; i < routers_.size(); ++i)
    restart_router(i, up_to(milliseconds{50} * (routers_.size() / 3 + 1)));
  workload_->start();
  tick();
  const auto some_wait = [this] {
    return std::ranges::any_of(routers_, [](const auto& router) { return !router->serving(); });
  };
  if (!run_while(some_wait, kRestPatience)) report.violations.emplace_back("not all serve");
}

void World::fill(Report& report) const {
  const History& history = workload_->history();
  report.trace_hash = scheduler_.trace_hash();
  report.events = scheduler_.events();
  report.operations = history.operations();
  report.writes_acknowledged = history.writes_acknowledged();
  report.unknown = history.unknown();
  report.begun = checker_.begun();
  report.committed = checker_.committed();
  report.aborted = checker_.aborted();
  report.faults = faults_->count();
  report.lost_at_servers = history.lost_at_servers();
  report.longest_fence_us = checker_.longest_fence().count() / 1'000;
  report.routers = routers_.size();
  report.virtual_seconds = static_cast<std::uint64_t>(scheduler_.now() / seconds{1});
  if (balance_ != nullptr)
    report.violations.insert(report.violations.end(), balance_->violations().begin(),
                             balance_->violations().end());
  for (const auto& list :
       {checker_.violations(), coordinator_.crowds(), ownership_->violations(),
        leftovers_->violations(), violations_, workload_->broken(), history.violations()})
    report.violations.insert(report.violations.end(), list.begin(), list.end());
}

bool World::at_rest() const {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr || !view->document().moves.empty()) return false;
  const auto kept = [](const ring::Leftover& entry) { return entry.kept(); };
  if (!std::ranges::all_of(view->document().leftovers, kept)) return false;
  // Every router is a member again, and nobody else.
  const std::vector<SimRouter*> members = staying();
  if (view->document().routers.size() != members.size()) return false;
  return std::ranges::all_of(members, [&](const SimRouter* router) {
    return router->serving() && ring::has_router(view->document(), router->session());
  });
}

void World::come_to_rest(Report& report) {
  log("the faults end");
  resting_ = true;
  faults_->end();
  move_enough(report);
  mover_->end();
  if (balance_ != nullptr) balance_->calm(scheduler_.now());
  if (profile_.balancing.strangers)
    strangers_->write(rng_.below(servers_.size()), profile_.balancing.calm);
  scheduler_.run_until(scheduler_.now() + kCalmTraffic + profile_.balancing.calm);
  strangers_->end();
  if (profile_.balancing.on) freeze();
  workload_->stop();
  if (!run_while([this] { return !at_rest(); }, kRestPatience)) {
    const ring::RingSnapshot& view = checker_.view();
    report.violations.push_back("not at rest: " +
                                (view == nullptr ? "no document" : to_text(view->document())));
  }
  workload_->read_everything();
  if (!run_while([this] { return !workload_->everything_read(); }, kReadPatience)) {
    std::string keys;
    for (const std::string& key : workload_->unread()) keys += ' ' + key;
    report.violations.push_back("cannot be read after all is well:" + keys);
  }
}

// A person's order, so that the balancer begins nothing more.
void World::freeze() {
  const auto frozen = [this] { return checker_.view()->document().frozen; };
  const Instant deadline = scheduler_.now() + kRestPatience;
  while (!frozen() && scheduler_.now() < deadline) {
    if (SimRouter* router = leader(); router != nullptr)
      router->controller()->orders().pool().freeze(/*frozen=*/true, [](const Result<void>&) {});
    run_while([&] { return !frozen(); }, kFreezePatience);
  }
}

// Where much went wrong, few moves came through: some more in calm.
void World::move_enough(Report& report) {
  const bool enough = run_while([this] { return checker_.committed() < kMovesMin; }, kMovePatience);
  if (!enough)
    report.violations.push_back("only " + std::to_string(checker_.committed()) +
                                " moves were committed, though all is well");
}

void World::check_fences(Report& report) {
  const bool calm = profile_.faults.total() == 0;
  const nanoseconds most = calm ? profile_.limits.fence_hold_max + kCalmFenceSlack : kFenceMax;
  if (checker_.longest_fence() > most)
    report.violations.push_back("a fence lasted for " +
                                std::to_string(checker_.longest_fence().count() / 1'000) + " us");
}

// Routers that know better go on with their view and say so; nobody begins a move.
void World::restore_old_backup(Report& report) {
  if (checker_.view() == nullptr || backups_.size() < 2) return;
  const std::size_t which = rng_.below(backups_.size() - 1);
  const Epoch known = coordinator_.stored().epoch;
  std::map<SessionId, Epoch> views;  // news of the last change may be on their way
  for (SimRouter* router : staying()) views[router->session()] = router->view();
  log("the coordinator is restored from epoch " + std::to_string(backups_[which].epoch.value()));
  coordinator_.restore(backups_[which]);
  restored_ = true;
  const Instant end =
      scheduler_.now() + (profile_.spares_coordinator ? kRareBackupTime : kBackupTime);
  while (scheduler_.now() < end) {
    mover_->order();
    scheduler_.run_until(scheduler_.now() + milliseconds{500});
  }
  for (SimRouter* router : staying()) {
    const std::string who = "backup: " + router->session().value();
    if (!router->serving() || !router->running()) {
      report.violations.push_back(who + " serves no more");
      continue;
    }
    const control::Status status = router->controller()->orders().status();
    if (router->view() < views[router->session()] || router->view() > known)
      report.violations.push_back(who + " has another view");
    if (status.coordinator.find("went back") == std::string::npos)
      report.violations.push_back(who + " says of the coordinator: " + status.coordinator);
  }
}

// Routers that know the ring go on with it; one that begins finds none, and servers that belong to
// one: it says so and waits.
void World::lose_ring(Report& report) {
  if (checker_.view() == nullptr) return;
  log("the coordinator has lost the ring");
  coordinator_.restore({});
  restored_ = true;
  add_router();
  SimRouter& late = *routers_.back();
  late.start();
  scheduler_.run_until(scheduler_.now() + kBackupTime);
  if (late.serving()) report.violations.emplace_back("lost ring: a new router serves");
  if (late.running() && late.controller()->orders().status().held.empty())
    report.violations.emplace_back("lost ring: nobody is told");
  for (SimRouter* router : staying()) {
    if (router != &late && !router->serving())
      report.violations.push_back("lost ring: " + router->session().value() + " serves no more");
  }
}

void World::check_servers(Report& report) {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr) return;
  leftovers_->end(*view);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Keyspace& keys = servers_[i]->current();
    const bool unmarked = is_unmarked(i);
    const Entry* marker = keys.peek(kMarkerKey);
    if (!unmarked && (marker == nullptr || marker->value != Value(std::string(kMark))))
      report.violations.push_back("server " + std::to_string(i) + " lost its ownership marker");
    for (const auto& [key, entry] : keys.entries()) {
      if (key == kMarkerKey || key == kNoteKey || leftovers_->is_foreign(i, key)) continue;
      if (view->owner(view->token_of(key)) != view->document().nodes[i].id) ++report.leftovers;
    }
  }
}

}  // namespace cleave::sim
