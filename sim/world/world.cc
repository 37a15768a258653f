#include "sim/world/world.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/world/faults.h"

namespace cleave::sim {
namespace {

constexpr std::uint64_t kRngPurpose = 0x776F726C64;
constexpr nanoseconds kTick = milliseconds{10};
constexpr milliseconds kCalmTraffic{300};  // clients go on after the faults have ended
constexpr milliseconds kRestPatience{30'000};
constexpr milliseconds kReadPatience{20'000};
constexpr std::string_view kMarkerKey = "cleave:{owner}";
constexpr std::string_view kMark = "the pool of this world";
constexpr int kForeignKeys = 20;

}  // namespace

std::string to_line(const Report& report) {
  return "seed " + std::to_string(report.seed) + " (" +
         std::string(to_string(make_profile(report.seed).flavour)) + ") trace " +
         std::to_string(report.trace_hash) + ": " + std::to_string(report.operations) + " ops, " +
         std::to_string(report.writes_acknowledged) + " writes acknowledged, " +
         std::to_string(report.unknown) + " unknown, " + std::to_string(report.committed) +
         " moves committed, " + std::to_string(report.aborted) + " aborted, " +
         std::to_string(report.faults) + " faults, " + std::to_string(report.lost_at_servers) +
         " keys set back by servers, " + std::to_string(report.leftovers) +
         " leftovers, longest fence " + std::to_string(report.longest_fence_us) + " us, " +
         std::to_string(report.events) + " events, " + std::to_string(report.violations.size()) +
         " violations";
}

World::World(std::uint64_t seed, const Mutations& mutations, std::ostream* log)
    : seed_(seed),
      mutations_(mutations),
      log_(log),
      profile_(make_profile(seed)),
      scheduler_(seed),
      network_(scheduler_, {}),
      rng_(scheduler_.fork(kRngPurpose)),
      coordinator_(scheduler_,
                   [this](const coord::Stored& stored) { checker_.see(stored, scheduler_.now()); }),
      peers_(scheduler_) {
  coordinator_.set_options(profile_.coordinator);
  make_servers();
  make_routers();
  workload_ = std::make_unique<Workload>(scheduler_, network_, profile_.workload, [this] {
    std::vector<net::Address> serving;
    for (const auto& router : routers_)
      if (router->serving()) serving.push_back(router->address());
    return serving;
  });
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
    ModelServer::Options options{.address = {"10.1.0." + std::to_string(i + 1), 6379},
                                 .password = {},
                                 .command_max = profile_.command_max,
                                 .clock_skew_ms = static_cast<std::int64_t>(rng_.below(20)),
                                 .durable = !profile_.lossy_servers,
                                 .seed = i};
    servers_.push_back(std::make_unique<ModelServer>(scheduler_, network_, std::move(options)));
  }
}

ring::Creation World::creation() const {
  ring::Creation made{.pool = "main",
                      .mark = std::string(kMark),
                      .nodes = {},
                      .mode = ring::Mode::kObserve,
                      .now = UnixMillis{1'700'000'000'000}};
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    ring::Node node;
    node.name = "node" + std::to_string(i);
    node.members = {{.address = net::to_string(servers_[i]->options().address), .rack = ""}};
    made.nodes.push_back(std::move(node));
  }
  return made;
}

void World::make_routers() {
  for (std::size_t i = 0; i < profile_.routers; ++i) {
    RouterProcess::Options options{
        .name = "router" + std::to_string(i),
        .address = {"10.2.0." + std::to_string(i + 1), 6380},
        .workers = profile_.workers,
        .creation = creation(),
        .limits = profile_.limits,
        .lease = profile_.lease,
        .seed = seed_ * 10 + i,
        .mutations = mutations_,
        .log = [this](const std::string& session, const std::string& line) {
          log(session + ": " + line);
        }};
    routers_.push_back(
        std::make_unique<RouterProcess>(network_, coordinator_, peers_, std::move(options)));
  }
}

// Markers; leftovers of an aborted move at every server that does not own the key; and on a server
// without a marker the keys of somebody else.
void World::fill_servers(const ring::Creation& made) {
  const Result<ring::Document> document = ring::create(made);
  CHECK(document.has_value());
  const Result<ring::RingSnapshot> view = ring::RingView::build(*document);
  CHECK(view.has_value());
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Keyspace& keys = servers_[i]->current();
    const bool unmarked = profile_.unmarked_server && i + 1 == servers_.size();
    if (!unmarked) keys.put(kMarkerKey, {.value = std::string(kMark)});
    for (int n = 0; unmarked && n < kForeignKeys; ++n) {
      const std::string key = "foreign" + std::to_string(n);
      foreign_[key] = "precious" + std::to_string(n);
      keys.put(key, {.value = foreign_[key]});
    }
    for (const std::string& key : workload_->keys()) {
      const NodeId owner = (*view)->owner((*view)->token_of(key));
      if (owner != document->nodes[i].id) keys.put(key, {.value = std::to_string(7'000 + i)});
    }
    keys.sync();
  }
}

// ---- running
// --------------------------------------------------------------------------------------

RouterProcess* World::leader() {
  for (const auto& router : routers_) {
    if (!router->running() || router->process().paused()) continue;
    if (router->controller()->status().leader) return router.get();
  }
  return nullptr;
}

void World::tick() {
  for (std::size_t i = 0; i < routers_.size(); ++i) {
    RouterProcess& router = *routers_[i];
    if (!router.running() || router.process().paused() || !router.wants_restart()) continue;
    router.crash(Death::kProcess);
    restart_router(i, up_to(milliseconds{100}));
  }
  scheduler_.at(scheduler_.now() + kTick, [this] { tick(); });
}

void World::restart_router(std::size_t index, nanoseconds delay) {
  scheduler_.at(scheduler_.now() + delay, [this, index] {
    if (!routers_[index]->running()) routers_[index]->start();
  });
}

void World::start_server(std::size_t index) {
  ModelServer& server = *servers_[index];
  if (server.running()) return;
  log("start server " + std::to_string(index));
  const bool loses = profile_.lossy_servers && rng_.chance(2, 3);
  lost_writes(index, server.start(loses ? rng_.below(server.keys().unsynced() + 1) : 0));
}

// Only the owner's loss is the key's: what another server loses must not matter to anybody. One is
// in between: a destination that fails over behind the driver's last look at it and before the
// commit. Nobody can tell that from a failover behind the commit.
void World::lost_writes(std::size_t server, const std::set<std::string>& keys) {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr) return;
  for (const std::string& key : keys) {
    const NodeId node = view->document().nodes[server].id;
    const ring::Move* const move = view->move_at(view->token_of(key));
    const bool owns = view->owner(view->token_of(key)) == node;
    const bool may_own =
        move != nullptr && move->phase == ring::Phase::kFenced && move->destination == node;
    if (!owns && !may_own) continue;
    if (std::ranges::find(workload_->keys(), key) == workload_->keys().end()) continue;
    const Entry* entry = servers_[server]->current().peek(key);
    const std::int64_t value =
        entry == nullptr ? kAbsent : stored_number(std::get<std::string>(entry->value));
    if (owns) {
      workload_->history().lost_at_server(key, scheduler_.now(), value);
    } else {
      workload_->history().may_be_lost_at_server(key, scheduler_.now(), value);
    }
  }
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
  for (const auto& router : routers_) {
    scheduler_.at(scheduler_.now() + up_to(milliseconds{50}), [&router] {
      if (!router->running()) router->start();
    });
  }
  workload_->start();
  tick();
  const auto nobody_serves = [this] {
    return std::none_of(routers_.begin(), routers_.end(),
                        [](const auto& router) { return router->serving(); });
  };
  Report report{.seed = seed_};
  if (!run_while(nobody_serves, kRestPatience)) report.violations.emplace_back("nobody serves");
  faults_->start();
  mover_->start();
  scheduler_.run_until(scheduler_.now() + profile_.active);
  come_to_rest(report);
  check_servers(report);

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
  for (const auto& list : {checker_.violations(), workload_->broken(), history.violations()})
    report.violations.insert(report.violations.end(), list.begin(), list.end());
  return report;
}

bool World::at_rest() const {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr || !view->document().moves.empty()) return false;
  // Every router is a member again, and nobody else.
  if (view->document().routers.size() != routers_.size()) return false;
  return std::all_of(routers_.begin(), routers_.end(), [&](const auto& router) {
    return router->serving() && ring::has_router(view->document(), router->session());
  });
}

void World::come_to_rest(Report& report) {
  log("the faults end");
  mover_->end();
  faults_->end();
  scheduler_.run_until(scheduler_.now() + kCalmTraffic);
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

void World::check_servers(Report& report) {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr) return;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Keyspace& keys = servers_[i]->current();
    const bool unmarked = profile_.unmarked_server && i + 1 == servers_.size();
    const Entry* marker = keys.peek(kMarkerKey);
    if (!unmarked && (marker == nullptr || marker->value != Value(std::string(kMark))))
      report.violations.push_back("server " + std::to_string(i) + " lost its ownership marker");
    for (const auto& [key, value] : foreign_) {
      const Entry* entry = unmarked ? keys.peek(key) : nullptr;
      if (unmarked && (entry == nullptr || entry->value != Value(value)))
        report.violations.push_back("foreign key " + key + " was deleted");
    }
    for (const auto& [key, entry] : keys.entries()) {
      if (key == kMarkerKey || foreign_.contains(key)) continue;
      if (view->owner(view->token_of(key)) != view->document().nodes[i].id) ++report.leftovers;
    }
  }
}

}  // namespace cleave::sim
