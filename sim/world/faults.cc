#include "sim/world/faults.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/big_value.h"
#include "backend/redis_store.h"
#include "base/own_names.h"

namespace cleave::sim {
namespace {

constexpr std::uint64_t kFaultsRng = 0x6661756C74;
constexpr milliseconds kQuietWaitMax{8'000};
constexpr std::size_t kRoutersMin = 3;  // that stay
constexpr std::size_t kRoutersMax = 6;
constexpr std::size_t kRoutersEver = 40;
constexpr int kNamesTried = 5'000;  // for one in the ranges of an entry
// What a driver has read reaches it so late, now and then.
constexpr nanoseconds kReadsLate = milliseconds{20};

}  // namespace

const Faults::Kind Faults::kKinds[] = {
    {&FaultWeights::break_server_link, &Faults::break_server_link},
    {&FaultWeights::break_client_link, &Faults::break_client_link},
    {&FaultWeights::stall_link, &Faults::stall_link},
    {&FaultWeights::pause_router, &Faults::pause_router},
    {&FaultWeights::pause_server, &Faults::pause_server},
    {&FaultWeights::crash_router, &Faults::crash_router},
    {&FaultWeights::stop_router, &Faults::stop_router},
    {&FaultWeights::crash_server, &Faults::crash_server},
    {&FaultWeights::failover, &Faults::failover},
    {&FaultWeights::cut_off_router, &Faults::cut_off_router},
    {&FaultWeights::coordinator, &Faults::disturb_coordinator},
    {&FaultWeights::peers, &Faults::disturb_peers},
    {&FaultWeights::abort_move, &Faults::abort_move},
    {&FaultWeights::partition, &Faults::partition},
    {&FaultWeights::arrive, &Faults::arrive},
    {&FaultWeights::depart, &Faults::depart},
    {&FaultWeights::skew_clock, &Faults::skew_clock},
    {&FaultWeights::slow_server, &Faults::slow_server},
    {&FaultWeights::refuse, &Faults::refuse},
    {&FaultWeights::stranger, &Faults::stranger},
    {&FaultWeights::exhaust, &Faults::exhaust_router},
};

// Within which a flush meets a fence: before it is everywhere, during the last copy, after it.
constexpr nanoseconds kFenceLength = std::chrono::milliseconds(20);

Faults::Faults(World& world) : world_(world), rng_(world.scheduler_.fork(kFaultsRng)) {}

void Faults::start() {
  if (world_.profile_.faults.total() > 0) schedule();
}

void Faults::schedule() {
  world_.scheduler_.at(world_.scheduler_.now() + wait(), [this] {
    if (ended_) return;
    strike();
    schedule();
  });
}

nanoseconds Faults::wait() {
  const auto up_to = [this](nanoseconds most) {
    return nanoseconds(rng_.below(static_cast<std::uint64_t>(most.count())));
  };
  const nanoseconds brief = up_to(world_.profile_.fault_interval_max);
  return world_.profile_.rhythm.wait(world_.scheduler_.now(), brief, up_to(kQuietWaitMax));
}

// A flush that meets copies under way, or a fence, is rare, and it is what rule 24 is about. Here
// what was read before the flush is written behind it.
void Faults::read_for_copy(std::size_t source, std::string_view key) {
  if (ended_ || world_.profile_.workload.flush_one_of == 0 || key.starts_with(kOwnKeyPrefix))
    return;
  SimRouter* const leader = world_.leader();
  if (leader == nullptr || !rng_.chance(1, 20)) return;
  world_.network_.stall(world_.servers_[source]->options().address.host, leader->address().host,
                        world_.scheduler_.now() + kReadsLate);
  world_.workload_->flush_soon();
}

void Faults::flush_at_fence(const ring::RingView& before, const ring::RingView& after) {
  if (ended_ || world_.profile_.workload.flush_one_of == 0) return;
  for (const ring::Move& move : after.document().moves) {
    const ring::Move* was = ring::find_move(before.document(), move.id);
    const bool new_fence = move.phase == ring::Phase::kFenced &&
                           (was == nullptr || was->phase != ring::Phase::kFenced);
    if (!new_fence || rng_.chance(1, 4)) continue;
    world_.scheduler_.at(world_.scheduler_.now() + nanoseconds(rng_.below(kFenceLength.count())),
                         [this] { world_.workload_->flush_soon(); });
  }
}

void Faults::see(const ring::RingView& before, const ring::RingView& after) {
  flush_at_fence(before, after);
  if (!ended_ && world_.profile_.replacements) replace_at_entry(before, after);
  if (!ended_ && world_.profile_.faults.crash_server > 0) strike_at_commit(before, after);
  const std::uint64_t one_of = world_.profile_.phase_fault_one_of;
  if (ended_ || one_of == 0) return;
  const auto& moves = before.document().moves;
  bool changed = moves.size() != after.document().moves.size();
  for (const ring::Move& move : after.document().moves) {
    const ring::Move* was = ring::find_move(before.document(), move.id);
    changed = changed || was == nullptr || was->phase != move.phase;
  }
  if (!changed || !rng_.chance(1, one_of)) return;
  // At once, while all routers hear of it, or while the phase lasts.
  const nanoseconds soon = rng_.chance(1, 2) ? milliseconds{2} : milliseconds{30};
  world_.scheduler_.at(world_.scheduler_.now() + world_.up_to(soon), [this] {
    if (!ended_) strike_at_phase();
  });
}

void Faults::strike_at_phase() {
  constexpr void (Faults::* kStrikes[])() = {
      &Faults::arrive,         &Faults::arrive,      &Faults::depart,
      &Faults::crash_router,   &Faults::stop_router, &Faults::pause_router,
      &Faults::cut_off_router, &Faults::partition,   &Faults::break_server_link};
  ++count_;
  if (world_.profile_.phase_arrivals) return rng_.chance(2, 3) ? arrive() : depart();
  (this->*kStrikes[rng_.below(std::size(kStrikes))])();
}

void Faults::strike() {
  std::uint64_t chosen = rng_.below(world_.profile_.faults.total());
  for (const Kind& kind : kKinds) {
    const std::uint32_t weight = world_.profile_.faults.*kind.weight;
    if (chosen < weight) {
      ++count_;
      return (this->*kind.strike)();
    }
    chosen -= weight;
  }
}

void Faults::later(nanoseconds delay, Scheduler::Callback mend) {
  world_.scheduler_.at(world_.scheduler_.now() + delay, [this, mend = std::move(mend)] {
    if (!ended_) mend();
  });
}

SimRouter& Faults::some_router() {
  const std::vector<SimRouter*> staying = world_.staying();
  return *staying[rng_.below(staying.size())];
}

ModelServer& Faults::some_server() { return *world_.servers_[rng_.below(world_.servers_.size())]; }

void Faults::break_one(const std::vector<std::uint64_t>& connections) {
  if (connections.empty()) return;
  constexpr Break kWays[] = {Break::kAtConnector, Break::kAtConnector, Break::kAtAcceptor,
                             Break::kBoth};
  const Break way = kWays[rng_.below(4)];
  const std::uint64_t chosen = connections[rng_.below(connections.size())];
  world_.network_.break_connection(chosen, way, world_.profile_.late_max);
}

void Faults::break_server_link() {
  // Those with something on its way are the ones that matter.
  std::vector<std::uint64_t> busy;
  for (const auto& router : world_.routers_) {
    for (const auto& server : world_.servers_) {
      const auto some =
          world_.network_.busy_connections(router->address().host, server->options().address.host);
      busy.insert(busy.end(), some.begin(), some.end());
    }
  }
  if (!busy.empty() && rng_.chance(3, 4)) return break_one(busy);
  const std::string server = some_server().options().address.host;
  break_one(world_.network_.connections(some_router().address().host, server));
}

void Faults::break_client_link() {
  break_one(world_.network_.connections("", some_router().address().host));
}

void Faults::stall_link() {
  const std::string router = some_router().address().host;
  const std::string server = some_server().options().address.host;
  const Instant until = world_.scheduler_.now() + world_.up_to(milliseconds{700});
  if (rng_.chance(1, 2))
    world_.network_.stall(router, server, until);
  else
    world_.network_.stall(server, router, until);
}

void Faults::pause(Process& process, nanoseconds length) {
  if (!process.alive() || process.paused()) return;
  world_.scheduler_.note(EventKind::kFault, process.number(), "pause");
  process.pause();
  later(length, [&process] { process.resume(); });
}

void Faults::pause_router() {
  SimRouter& router = some_router();
  world_.log("pause " + router.session().value());
  const nanoseconds longest = rng_.chance(1, 2) ? world_.profile_.long_outage : milliseconds{200};
  pause(router.process(), world_.up_to(longest));
}

void Faults::pause_server() { pause(some_server().process(), world_.up_to(milliseconds{800})); }

void Faults::slow_server() {
  ModelServer& server = some_server();
  server.set_command_max(milliseconds{1} + world_.up_to(milliseconds{10}));
  later(world_.up_to(milliseconds{800}),
        [this, &server] { server.set_command_max(world_.profile_.command_max); });
}

void Faults::crash_router() {
  SimRouter& router = some_router();
  if (!router.running()) return;
  world_.log("crash " + router.session().value());
  router.crash(rng_.chance(2, 3) ? Death::kProcess : Death::kMachine);
  later(world_.up_to(milliseconds{1'500}), [&router] {
    if (!router.running() && !router.retired()) router.start();
  });
}

void Faults::arrive() {
  if (world_.staying().size() >= kRoutersMax) return depart();
  if (world_.routers_.size() >= kRoutersEver) return;
  world_.add_router();
  world_.log("a new router");
  world_.routers_.back()->start();
}

// Cleanly or not, perhaps while it leads or holds a range; nobody takes its place.
void Faults::depart() {
  if (world_.staying().size() <= kRoutersMin) return;
  SimRouter& router = some_router();
  if (!router.running() || router.process().paused()) return;
  world_.log("depart " + router.session().value());
  router.retire();
  if (!world_.profile_.phase_arrivals && rng_.chance(1, 2))
    router.crash(rng_.chance(1, 2) ? Death::kProcess : Death::kMachine);
  else if (!router.wants_restart())
    router.stop();
}

void Faults::stop_router() {
  SimRouter& router = some_router();
  if (!router.running() || router.process().paused() || router.wants_restart()) return;
  world_.log("stop " + router.session().value());
  router.stop();
}

void Faults::crash_server() { crash_server(rng_.below(world_.servers_.size())); }

// Rule 23 e: who has just got a range goes, before its source was cleaned.
void Faults::strike_at_commit(const ring::RingView& before, const ring::RingView& after) {
  for (const ring::Move& move : before.document().moves) {
    if (move.takes_back != MoveId{} || !is_committed(move, after.document())) continue;
    if (!rng_.chance(1, 3)) continue;
    const auto& nodes = after.document().nodes;
    const auto node = std::ranges::find(nodes, move.destination, &ring::Node::id);
    const auto server = static_cast<std::size_t>(node - nodes.begin());
    ++count_;
    world_.scheduler_.at(world_.scheduler_.now() + world_.up_to(milliseconds{4}), [this, server] {
      if (!ended_) crash_server(server);
    });
  }
}

// Rule 23 f: another server takes the address before the copies there were cleaned.
void Faults::replace_at_entry(const ring::RingView& before, const ring::RingView& after) {
  for (const ring::Leftover& entry : after.document().leftovers) {
    const ring::Leftover* was = ring::find_leftover(before.document(), entry.move);
    const bool idle_before =
        was != nullptr && was->node == entry.node && !ring::in_use(before.document(), *was);
    if (idle_before || entry.kept() || ring::in_use(after.document(), entry)) continue;
    if (entry.server.empty() || !rng_.chance(1, 4)) continue;
    world_.scheduler_.at(world_.scheduler_.now() + world_.up_to(milliseconds{4}),
                         [this, move = entry.move] {
                           if (!ended_) replace_server(move);
                         });
  }
}

// It has all that the node owns, an id of its own, and, where the copies were, a key of its own.
void Faults::replace_server(MoveId move) {
  const ring::RingView& view = *world_.checker_.view();
  const ring::Leftover* entry = ring::find_leftover(view.document(), move);
  if (entry == nullptr || entry->kept()) return;
  const auto& nodes = view.document().nodes;
  const auto node = std::ranges::find(nodes, entry->node, &ring::Node::id);
  const auto index = static_cast<std::size_t>(node - nodes.begin());
  ModelServer& server = *world_.servers_[index];
  if (!server.running()) return;
  ++count_;
  world_.log("another server in place of server " + std::to_string(index));
  server.crash(Death::kMachine);
  server.start(0);
  world_.leftovers_->life_changed(index, world_.scheduler_.now());
  Keyspace& keys = server.current();
  std::vector<std::string> left_behind;
  for (const auto& [key, value] : keys.entries()) {
    const bool ours = !world_.leftovers_->is_foreign(index, key) &&
                      (key.starts_with(backend::kMovePrefix) || !key.starts_with(kOwnKeyPrefix));
    if (ours && view.owner(view.token_of(key)) != entry->node) left_behind.push_back(key);
  }
  for (const std::string& key : left_behind) keys.erase(key);
  // A move to it may have compared the servers already, and commit.
  world_.lost_writes(index, {left_behind.begin(), left_behind.end()});
  const std::string id = "replacement" + std::to_string(count_);
  keys.put(backend::kRingKey, {.value = to_text(backend::RingNote{.pool = view.document().pool,
                                                                  .ring = view.document().mark,
                                                                  .node = node->name,
                                                                  .server = id,
                                                                  .epoch = view.epoch(),
                                                                  .adopted = {},
                                                                  .written = {}})});
  add_own_key(index, view, *entry, id);
  keys.sync();
}

void Faults::add_own_key(std::size_t server, const ring::RingView& view,
                         const ring::Leftover& entry, const std::string& id) {
  for (int n = 0; n < kNamesTried; ++n) {
    const std::string key = id + "-" + std::to_string(n);
    if (!ring::contains(entry.ranges, view.token_of(key))) continue;
    world_.servers_[server]->current().put(key, {.value = id});
    return world_.leftovers_->add_foreign(server, key, id, /*owned=*/false);
  }
}

void Faults::crash_server(std::size_t index) {
  ModelServer& server = *world_.servers_[index];
  if (!server.running()) return;
  world_.log("crash server " + std::to_string(index));
  server.crash(rng_.chance(2, 3) ? Death::kProcess : Death::kMachine);
  later(world_.up_to(milliseconds{800}), [this, index] { world_.start_server(index); });
}

void Faults::failover() {
  const std::size_t index = rng_.below(world_.servers_.size());
  ModelServer& server = *world_.servers_[index];
  if (!server.running()) return;
  const auto connections =
      rng_.chance(1, 2) ? ModelServer::Connections::kSurvive : ModelServer::Connections::kBreak;
  world_.log("failover of " + net::to_string(server.options().address));
  world_.lost_writes(index, server.failover(rng_.below(server.keys().unsynced() + 1), connections));
  world_.leftovers_->life_changed(index, world_.scheduler_.now());
}

void Faults::cut_off_router() {
  SimRouter& router = some_router();
  world_.log("cut off " + router.session().value());
  const Instant until = world_.scheduler_.now() + world_.up_to(world_.profile_.long_outage);
  const std::string& host = router.address().host;
  const std::uint64_t way = rng_.below(4);  // mostly both
  if (way != 0) world_.network_.stall(host, SimCoordinator::kHost, until);
  if (way != 1) world_.network_.stall(SimCoordinator::kHost, host, until);
}

std::vector<std::string> Faults::hosts() const {
  std::vector<std::string> all{SimCoordinator::kHost};
  for (const SimRouter* router : world_.staying()) all.push_back(router->address().host);
  for (const auto& server : world_.servers_) all.push_back(server->options().address.host);
  return all;
}

// Two hosts, one from all others, or two halves; one way or both.
void Faults::partition() {
  const std::vector<std::string> all = hosts();
  const std::uint64_t shape = rng_.below(3);
  const std::size_t chosen = rng_.below(all.size());
  const std::size_t other = (chosen + 1 + rng_.below(all.size() - 1)) % all.size();
  std::vector<std::string> here;
  std::vector<std::string> there;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool half = rng_.chance(1, 2);
    if (i == chosen || (shape == 0 && half && i != other))
      here.push_back(all[i]);
    else if (shape != 1 || i == other)
      there.push_back(all[i]);
  }
  const nanoseconds longest = rng_.chance(1, 3) ? world_.profile_.long_outage : milliseconds{300};
  const Instant until = world_.scheduler_.now() + world_.up_to(longest);
  const std::uint64_t way = rng_.below(4);
  world_.log("partition of " + here.front() +
             (way == 0   ? " to "
              : way == 1 ? " from "
                         : " and ") +
             there.front());
  for (const std::string& one : here) {
    for (const std::string& two : there) {
      if (way != 1) world_.network_.stall(one, two, until);
      if (way != 0) world_.network_.stall(two, one, until);
    }
  }
}

// By a router's wall clock the balancer remembers what it did; a server's decides when keys expire.
// Some jump by hours, and many back again.
void Faults::skew_clock() {
  if (world_.profile_.clock_jumps && rng_.chance(1, 2)) return skew_server_clock();
  const std::int64_t most = rng_.chance(1, 4) ? 10'000'000 : 10'000;
  const auto jump = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(2 * most)));
  Process& process = some_router().process();
  process.set_wall_skew(milliseconds{jump - most});
  if (rng_.chance(1, 2))
    later(world_.up_to(seconds{10}), [&process] { process.set_wall_skew(milliseconds{0}); });
}

// By little more than a move may find, or by much; and back, after a while.
void Faults::skew_server_clock() {
  const std::size_t index = rng_.below(world_.servers_.size());
  const bool little = rng_.chance(1, 2);
  const auto jump =
      static_cast<std::int64_t>(little ? 60 + rng_.below(300) : 3'000 + rng_.below(1'900));
  world_.set_clock(index, rng_.chance(1, 2) ? jump : -jump);
  const nanoseconds length = seconds{12} + world_.up_to(seconds{15});
  later(length, [this, index] { world_.set_clock(index, 0); });
}

void Faults::disturb_coordinator() {
  SimCoordinator& coordinator = world_.coordinator_;
  const nanoseconds length = world_.up_to(milliseconds{1'500});
  const std::uint64_t what = rng_.below(6);
  if (what < 2) return coordinator.stop_until(world_.scheduler_.now() + length);
  if (what < 4) {  // a failover
    coordinator.stop_until(world_.scheduler_.now() + length / 4);
    if (rng_.chance(1, 2)) return coordinator.forget_leases();
    return coordinator.extend_leases(world_.profile_.lease * 2);
  }
  CoordinatorOptions options = world_.profile_.coordinator;
  options.latency_max += world_.up_to(milliseconds{rng_.chance(1, 2) ? 300 : 10});
  options.watch_max += world_.up_to(milliseconds{1'000});
  if (rng_.chance(1, 2)) options.lost_one_of = static_cast<std::uint32_t>(3 + rng_.below(20));
  coordinator.set_options(options);
  later(length, [this, &coordinator] { coordinator.set_options(world_.profile_.coordinator); });
}

void Faults::disturb_peers() {
  const auto some = [this](std::uint64_t many) {
    return static_cast<std::uint32_t>(many + rng_.below(20));
  };
  Unruly unruly{.hosts = kRouterHosts};
  if (rng_.chance(2, 3)) unruly.lost_one_of = some(3);
  if (rng_.chance(1, 2)) unruly.slow_one_of = some(2);
  if (rng_.chance(1, 3)) unruly.half_closed_one_of = some(3);
  unruly.slow_max = milliseconds{1} + world_.up_to(milliseconds{rng_.chance(1, 2) ? 400 : 5});
  world_.network_.set_unruly(std::move(unruly));
  later(world_.up_to(milliseconds{1'500}), [this] { world_.network_.set_unruly({}); });
}

void Faults::abort_move() {
  SimRouter& router = some_router();
  if (!router.running() || router.process().paused() || world_.checker_.view() == nullptr) return;
  const auto& moves = world_.checker_.view()->document().moves;
  if (!moves.empty())
    router.controller()->orders().moves().abort(moves.front().id, [](const Result<void>&) {});
}

// Of itself, not of any key: nothing may be left behind for it.
void Faults::refuse() {
  struct Refusal {
    const char* command;
    const char* words;
  };
  constexpr Refusal kRefusals[] = {
      {"restore", "OOM command not allowed when used memory > 'maxmemory'."},
      {"restore",
       "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
       "persist to disk."},
      {"restore", "NOREPLICAS Not enough good replicas to write."},
      {"restore", "READONLY You can't write against a read only replica."},
      {"restore", "ERR DUMP payload version or checksum are wrong"},
      {"dump", "NOPERM this user has no permissions to run the 'dump' command"},
      {"dump",
       "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
       "NOSAVE."},
      {"dump", "CLUSTERDOWN The cluster is down"},
      {"dump", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."},
      {"memory", "LOADING Redis is loading the dataset in memory"},
      // What is cleaned waits, and nothing else changes.
      {"unlink", "NOPERM this user has no permissions to run the 'unlink' command"},
      {"unlink", "READONLY You can't write against a read only replica."},
  };
  ModelServer& server = some_server();
  const Refusal& chosen = kRefusals[rng_.below(std::size(kRefusals))];
  world_.log(net::to_string(server.options().address) + " refuses: " + chosen.words);
  server.refuse(chosen.command, chosen.words);
  later(world_.up_to(milliseconds{rng_.chance(1, 2) ? 2'000 : 100}),
        [&server] { server.refuse("", ""); });
}

void Faults::stranger() {
  world_.strangers_->write(rng_.below(world_.servers_.size()),
                           seconds{5} + world_.up_to(seconds{30}));
}

void Faults::exhaust_router() {
  const std::string& host = some_router().address().host;
  const bool all = rng_.chance(1, 3);
  world_.log(host + (all ? " can open no connection" : " accepts nothing"));
  world_.network_.exhaust(host, all ? Exhausted::kAll : Exhausted::kAccepting,
                          world_.scheduler_.now() + world_.up_to(milliseconds{2'500}));
}

void Faults::end() {
  ended_ = true;
  world_.network_.heal();
  NetworkOptions calm = world_.network_.options();
  calm.spike_every = 0;
  world_.network_.set_options(calm);
  world_.coordinator_.set_options({});
  world_.coordinator_.heal();
  world_.network_.set_unruly({});
  for (std::size_t i = 0; i < world_.servers_.size(); ++i) {
    world_.servers_[i]->process().resume();
    world_.servers_[i]->set_command_max(world_.profile_.command_max);
    world_.servers_[i]->refuse("", "");
    world_.start_server(i);
    world_.set_clock(i, 0);
  }
  for (const auto& router : world_.routers_) {
    router->process().resume();
    if (!router->running() && !router->retired()) router->start();
  }
}

}  // namespace cleave::sim
