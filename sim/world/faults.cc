#include "sim/world/faults.h"

#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kRngPurpose = 0x6661756C74;
constexpr std::uint64_t kMoverPurpose = 0x6D6F766572;

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
};

Faults::Faults(World& world) : world_(world), rng_(world.scheduler_.fork(kRngPurpose)) {}

void Faults::start() {
  if (world_.profile_.faults.total() > 0) schedule();
}

void Faults::schedule() {
  const nanoseconds most = world_.profile_.fault_interval_max;
  const nanoseconds wait(rng_.below(static_cast<std::uint64_t>(most.count())));
  world_.scheduler_.at(world_.scheduler_.now() + wait, [this] {
    if (ended_) return;
    strike();
    schedule();
  });
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

RouterProcess& Faults::some_router() {
  return *world_.routers_[rng_.below(world_.routers_.size())];
}

ModelServer& Faults::some_server() { return *world_.servers_[rng_.below(world_.servers_.size())]; }

void Faults::break_one(const std::vector<std::uint64_t>& connections) {
  if (connections.empty()) return;
  constexpr Break kWays[] = {Break::kAtConnector, Break::kAtConnector, Break::kAtAcceptor,
                             Break::kBoth};
  world_.network_.break_connection(connections[rng_.below(connections.size())],
                                   kWays[rng_.below(4)], world_.profile_.late_max);
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
  break_one(world_.network_.connections(some_router().address().host,
                                        some_server().options().address.host));
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
  RouterProcess& router = some_router();
  world_.log("pause " + router.session().value());
  const nanoseconds longest = rng_.chance(1, 2) ? world_.profile_.long_outage : milliseconds{200};
  pause(router.process(), world_.up_to(longest));
}

void Faults::pause_server() { pause(some_server().process(), world_.up_to(milliseconds{800})); }

void Faults::crash_router() {
  RouterProcess& router = some_router();
  if (!router.running()) return;
  world_.log("crash " + router.session().value());
  router.crash(rng_.chance(2, 3) ? Death::kProcess : Death::kMachine);
  later(world_.up_to(milliseconds{1'500}), [&router] {
    if (!router.running()) router.start();
  });
}

void Faults::stop_router() {
  RouterProcess& router = some_router();
  if (!router.running() || router.process().paused() || router.wants_restart()) return;
  world_.log("stop " + router.session().value());
  router.stop();
}

void Faults::crash_server() {
  const std::size_t index = rng_.below(world_.servers_.size());
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
}

void Faults::cut_off_router() {
  RouterProcess& router = some_router();
  world_.log("cut off " + router.session().value());
  world_.coordinator_.cut_off(router.process(),
                              world_.scheduler_.now() + world_.up_to(world_.profile_.long_outage));
}

void Faults::disturb_coordinator() {
  SimCoordinator& coordinator = world_.coordinator_;
  const nanoseconds length = world_.up_to(milliseconds{1'500});
  if (rng_.chance(1, 3)) {
    coordinator.stop_until(world_.scheduler_.now() + length);
    return;
  }
  CoordinatorOptions options = world_.profile_.coordinator;
  options.latency_max += world_.up_to(milliseconds{rng_.chance(1, 2) ? 300 : 10});
  options.watch_max += world_.up_to(milliseconds{1'000});
  if (rng_.chance(1, 2)) options.lost_one_of = static_cast<std::uint32_t>(3 + rng_.below(20));
  coordinator.set_options(options);
  later(length, [this, &coordinator] { coordinator.set_options(world_.profile_.coordinator); });
}

void Faults::disturb_peers() {
  PeerOptions options;
  options.latency_max += world_.up_to(milliseconds{rng_.chance(1, 2) ? 200 : 2});
  options.patience = milliseconds{5} + world_.up_to(milliseconds{rng_.chance(1, 2) ? 400 : 20});
  if (rng_.chance(2, 3)) options.lost_one_of = static_cast<std::uint32_t>(3 + rng_.below(20));
  world_.peers_.set_options(options);
  later(world_.up_to(milliseconds{1'500}), [this] { world_.peers_.set_options({}); });
}

void Faults::abort_move() {
  RouterProcess& router = some_router();
  if (!router.running() || router.process().paused() || world_.checker_.view() == nullptr) return;
  const auto& moves = world_.checker_.view()->document().moves;
  if (!moves.empty()) router.controller()->abort(moves.front().id, [](const Result<void>&) {});
}

void Faults::end() {
  ended_ = true;
  world_.network_.heal();
  NetworkOptions calm = world_.network_.options();
  calm.spike_every = 0;
  world_.network_.set_options(calm);
  world_.coordinator_.set_options({});
  world_.coordinator_.heal();
  world_.peers_.set_options({});
  for (std::size_t i = 0; i < world_.servers_.size(); ++i) {
    world_.servers_[i]->process().resume();
    world_.start_server(i);
  }
  for (const auto& router : world_.routers_) {
    router->process().resume();
    if (!router->running()) router->start();
  }
}

// ---- moves
// ----------------------------------------------------------------------------------------

Mover::Mover(World& world) : world_(world), rng_(world.scheduler_.fork(kMoverPurpose)) {}

void Mover::start() { schedule(); }

void Mover::schedule() {
  const nanoseconds most = world_.profile_.move_interval_max;
  const nanoseconds wait(rng_.below(static_cast<std::uint64_t>(most.count())));
  world_.scheduler_.at(world_.scheduler_.now() + wait, [this] {
    if (ended_) return;
    order();
    schedule();
  });
}

void Mover::order() {
  RouterProcess* leader = world_.leader();
  if (leader == nullptr || world_.checker_.view() == nullptr) return;
  const ring::RingView& view = *world_.checker_.view();
  if (view.document().moves.size() >= 2) return;
  // Often the same again, or back: what an earlier attempt left behind must not show.
  ring::MoveRequest request = rng_.chance(1, 2) ? last_ : random_request(view);
  if (rng_.chance(1, 4)) std::swap(request.source, request.destination);
  if (request.ranges.empty()) return;
  last_ = request;
  leader->controller()->move(std::move(request), [](const Result<MoveId>&) {});
}

// A piece of the entry, often a small one around a key that is in use.
ring::TokenRange Mover::random_piece(const ring::RingView& view, const ring::Entry& entry) {
  if (rng_.chance(1, 4)) return entry.range;
  const std::vector<std::string>& keys = world_.workload_->keys();
  Token middle = view.token_of(keys[rng_.below(keys.size())]);
  if (!entry.range.contains(middle)) return entry.range;
  const std::uint64_t below = middle.value() - entry.range.first.value();
  const std::uint64_t above = entry.range.last.value() - middle.value();
  const std::uint64_t first = middle.value() - (below == 0 ? 0 : rng_.below(below));
  const std::uint64_t last = middle.value() + (above == 0 ? 0 : rng_.below(above));
  return {Token{first}, Token{last}};
}

ring::MoveRequest Mover::random_request(const ring::RingView& view) {
  const std::vector<std::string>& keys = world_.workload_->keys();
  ring::MoveRequest request{.ranges = {},
                            .source = view.owner(view.token_of(keys[rng_.below(keys.size())])),
                            .destination = {},
                            .reason = "random",
                            .now = world_.scheduler_.wall_now()};
  const auto& nodes = view.document().nodes;
  do {
    request.destination = nodes[rng_.below(nodes.size())].id;
  } while (request.destination == request.source);
  std::vector<ring::TokenRange> pieces;
  // The entries that hold keys in use, and a few others.
  for (const std::string& key : keys) {
    const ring::Entry& entry = view.entry(view.find(view.token_of(key)));
    if (entry.node != request.source || entry.move != ring::kNone) continue;
    if (rng_.chance(1, 2)) pieces.push_back(random_piece(view, entry));
  }
  request.ranges = ring::normalised(std::move(pieces));
  return request;
}

}  // namespace cleave::sim
