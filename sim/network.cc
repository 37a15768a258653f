#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/sim_loop.h"
#include "sim/sim_stream.h"

namespace cleave::sim {
namespace {

constexpr std::uint64_t kRngPurpose = 0x6E6574;

// How long the peers of a dead machine wait before TCP tells them.
constexpr nanoseconds kSilenceMax = milliseconds{3'000};

// Of a connection that is half closed before its time.
constexpr nanoseconds kHalfClosedWithin = milliseconds{2};

}  // namespace

Network::Network(Scheduler& scheduler, const NetworkOptions& options)
    : scheduler_(scheduler), options_(options), rng_(scheduler.fork(kRngPurpose)) {}

Network::~Network() = default;

Process& Network::add_process(const std::string& host) {
  processes_.push_back(std::make_unique<Process>(scheduler_, host, next_number_++));
  return *processes_.back();
}

nanoseconds Network::up_to(nanoseconds bound) {
  if (bound <= nanoseconds{0}) return nanoseconds{0};
  return nanoseconds(rng_.below(static_cast<std::uint64_t>(bound.count())));
}

nanoseconds Network::latency() {
  if (options_.spike_every != 0 && rng_.chance(1, options_.spike_every))
    return up_to(options_.spike_max);
  return options_.latency_min + up_to(options_.latency_max - options_.latency_min);
}

Instant Network::link_free_at(const std::string& from, const std::string& to) const {
  if (scheduler_.now() >= last_stall_) return Instant{0};
  const auto found = stalls_.find({from, to});
  return found == stalls_.end() ? Instant{0} : found->second;
}

void Network::stall(const std::string& from, const std::string& to, Instant until) {
  Instant& free_at = stalls_[{from, to}];
  free_at = std::max(free_at, until);
  last_stall_ = std::max(last_stall_, until);
}

void Network::heal() {
  stalls_.clear();
  last_stall_ = Instant{0};
  for (const auto& [host, want] : std::exchange(wants_, {})) tell_paused(host, false);
  for (auto& [number, connection] : connections_)
    for (Flow& flow : connection->flows) flow.held_until = Instant{0};
}

void Network::exhaust(const std::string& host, Exhausted what, Instant until) {
  wants_[host] = {.what = what, .until = until};
  tell_paused(host, true);
  scheduler_.at(until, [this, host] {
    if (lacks(host, Exhausted::kAccepting)) return;  // for longer, meanwhile
    tell_paused(host, false);
  });
}

bool Network::lacks(const std::string& host, Exhausted what) const {
  const auto found = wants_.find(host);
  if (found == wants_.end() || scheduler_.now() >= found->second.until) return false;
  return what == Exhausted::kAccepting || found->second.what == Exhausted::kAll;
}

void Network::tell_paused(const std::string& host, bool paused) {
  for (const auto& [address, listening] : listening_) {
    if (listening.process->host() != host || !listening.acceptor.paused) continue;
    listening.loop->run_at(scheduler_.now(), [this, address, loop = listening.loop, paused] {
      const auto found = listening_.find(address);
      if (found != listening_.end() && found->second.loop == loop)
        found->second.acceptor.paused(paused);
    });
  }
}

// ---- listening and connecting
// ---------------------------------------------------------------------

Result<net::Address> Network::listen(SimLoop& loop, const net::Address& address,
                                     net::Loop::Acceptor acceptor) {
  net::Address real = address;
  if (real.host.empty() || real.host == "127.0.0.1") real.host = loop.process().host();
  if (real.port == 0) real.port = next_port_++;
  if (listening_.contains(real))
    return fail(Code::kUnavailable, "listen " + net::to_string(real) + ": address in use");
  listening_[real] = {&loop, &loop.process(), std::move(acceptor)};
  return real;
}

void Network::unlisten(const net::Address& address, const SimLoop* loop) {
  const auto found = listening_.find(address);
  if (found != listening_.end() && found->second.loop == loop) listening_.erase(found);
}

void Network::connect(SimLoop& from, const net::Address& address, milliseconds timeout,
                      net::Loop::Connected done) {
  // Answered once: by the peer or by the timeout, whichever is first.
  auto shared = std::make_shared<net::Loop::Connected>(std::move(done));
  const Instant deadline = scheduler_.now() + timeout;
  from.run_at(deadline, [shared, address] {
    if (*shared == nullptr) return;
    std::exchange(*shared, nullptr)(
        fail(Code::kTimeout, "connect " + net::to_string(address) + ": no answer"));
  });
  if (lacks(from.process().host(), Exhausted::kAll)) {
    from.run_at(scheduler_.now(), [shared, address] {
      if (*shared == nullptr) return;
      std::exchange(*shared, nullptr)(
          fail(Code::kUnavailable, "connect " + net::to_string(address) + ": too many open files"));
    });
    return;
  }
  const Instant free_at = link_free_at(from.process().host(), address.host);
  const Instant when = std::max(scheduler_.now(), free_at) + latency();
  from.run_at(when, [this, &from, address, shared, deadline] {
    arrive_call(from, address, shared, deadline);
  });
}

void Network::arrive_call(SimLoop& from, const net::Address& address,
                          const std::shared_ptr<net::Loop::Connected>& done, Instant deadline) {
  if (*done == nullptr || scheduler_.now() >= deadline) return;
  const auto found = listening_.find(address);
  if (found != listening_.end() && lacks(address.host, Exhausted::kAccepting)) {
    from.run_at(
        std::min(wants_.at(address.host).until, deadline),
        [this, &from, address, done, deadline] { arrive_call(from, address, done, deadline); });
    return;
  }
  const Instant back =
      std::max(scheduler_.now(), link_free_at(address.host, from.process().host())) + latency();
  if (found == listening_.end()) {
    from.run_at(back, [done, address] {
      if (*done == nullptr) return;
      std::exchange(*done, nullptr)(
          fail(Code::kUnavailable, "connect " + net::to_string(address) + ": refused"));
    });
    return;
  }
  const ConnectionPtr connection = make_connection(from, found->second, address);
  accept(address, connection);
  from.run_at(back, [this, done, connection] {
    if (*done == nullptr) {
      close(connection, 0);  // too late: the caller has given up
      return;
    }
    std::exchange(*done, nullptr)(std::make_unique<SimStream>(*this, connection, 0));
  });
}

Network::ConnectionPtr Network::make_connection(SimLoop& connector, const Listening& listening,
                                                const net::Address& address) {
  auto connection = std::make_shared<Connection>();
  connection->number = next_number_++;
  End& calling = connection->ends[0];
  calling.process = &connector.process();
  calling.life = connector.life();
  calling.loop = &connector;
  const auto port = static_cast<std::uint16_t>(1'024 + connection->number % 60'000);
  calling.address = net::to_string({connector.process().host(), port});
  End& called = connection->ends[1];
  called.process = listening.process;
  called.life = listening.loop->life();
  called.loop = listening.loop;
  called.address = net::to_string(address);
  connections_[connection->number] = connection;
  upset(connection);
  scheduler_.note(EventKind::kConnect, connection->number, called.address);
  return connection;
}

void Network::upset(const ConnectionPtr& connection) {
  const auto meant = [this](const End& end) {
    return end.process->host().starts_with(unruly_.hosts);
  };
  if (unruly_.hosts.empty() || !std::ranges::all_of(connection->ends, meant)) return;
  const auto one_of = [this](std::uint32_t many) { return many != 0 && rng_.chance(1, many); };
  if (one_of(unruly_.lost_one_of)) connection->flows[rng_.below(2)].doomed = true;
  if (one_of(unruly_.slow_one_of))
    connection->flows[rng_.below(2)].held_until = scheduler_.now() + up_to(unruly_.slow_max);
  if (!one_of(unruly_.half_closed_one_of)) return;
  const std::size_t side = rng_.below(2);
  scheduler_.at(scheduler_.now() + up_to(kHalfClosedWithin),
                [this, connection, side] { half_close(connection, side); });
}

void Network::half_close(const ConnectionPtr& connection, std::size_t side) {
  Flow& flow = connection->flows[side];
  if (!connection->ends[side].open || flow.shut) return;
  scheduler_.note(EventKind::kFault, connection->number, "half-close");
  put_on_wire(connection, side, {.bytes = {}, .last = true, .reset = false});
  flow.shut = true;
}

void Network::accept(const net::Address& address, const ConnectionPtr& connection) {
  SimLoop* loop = connection->ends[1].loop;
  loop->run_at(scheduler_.now(), [this, address, loop, connection] {
    const auto found = listening_.find(address);
    if (found == listening_.end() || found->second.loop != loop) {
      close(connection, 1);  // nobody listens any more
      return;
    }
    auto& chosen = static_cast<SimLoop&>(found->second.acceptor.choose());
    connection->ends[1].loop = &chosen;
    chosen.post([this, accepted = found->second.acceptor.accepted, connection, &chosen] {
      scheduler_.note(EventKind::kAccept, connection->number, {});
      accepted(chosen, std::make_unique<SimStream>(*this, connection, 1));
    });
  });
}

// ---- bytes
// ----------------------------------------------------------------------------------------

void Network::start_reading(const ConnectionPtr& connection, std::size_t side,
                            net::StreamEvents& events) {
  End& end = connection->ends[side];
  end.events = &events;
  end.started = true;
  schedule_delivery(connection, side);
}

void Network::resume_reading(const ConnectionPtr& connection, std::size_t side) {
  connection->ends[side].reading = true;
  schedule_delivery(connection, side);
}

void Network::send(const ConnectionPtr& connection, std::size_t side, std::string_view bytes) {
  const End& end = connection->ends[side];
  if (!end.open || end.process->life() != end.life || !end.process->alive()) return;
  Flow& flow = connection->flows[side];
  if (flow.shut) return;
  if (std::exchange(flow.doomed, false)) {
    flow.shut = true;
    scheduler_.at(scheduler_.now(), [this, number = connection->number] {
      break_connection(number, Break::kBoth, nanoseconds{0});
    });
    return;
  }
  flow.kept.append(bytes);
  transmit(connection, side);
}

void Network::transmit(const ConnectionPtr& connection, std::size_t side) {
  Flow& flow = connection->flows[side];
  const bool had_kept = !flow.kept.empty();
  while (!flow.kept.empty() && flow.in_kernel < options_.buffer_bytes) {
    std::size_t take = std::min(flow.kept.size(), options_.buffer_bytes - flow.in_kernel);
    if (take > 1 && options_.cut_every != 0 && rng_.chance(1, options_.cut_every))
      take = 1 + static_cast<std::size_t>(rng_.below(take));
    Piece piece{.bytes = flow.kept.substr(0, take)};
    flow.kept.erase(0, take);
    flow.in_kernel += take;
    flow.handed_over += take;
    put_on_wire(connection, side, std::move(piece));
  }
  const End& end = connection->ends[side];
  if (!had_kept || !flow.kept.empty() || end.loop == nullptr) return;
  end.loop->run_at(scheduler_.now(), [this, connection, side] {
    const End& sender = connection->ends[side];
    if (!sender.open || sender.events == nullptr || !connection->flows[side].kept.empty()) return;
    scheduler_.note(EventKind::kDrained, connection->number, {});
    sender.events->on_drained();
  });
}

void Network::put_on_wire(const ConnectionPtr& connection, std::size_t side, Piece piece) {
  Flow& flow = connection->flows[side];
  if (flow.shut) return;  // its last piece is on its way
  flow.flying.push_back(std::move(piece));
  flow.arrives = std::max(flow.arrives, scheduler_.now() + latency());
  scheduler_.at(flow.arrives, [this, connection, side] { arrive(connection, side); });
}

void Network::arrive(const ConnectionPtr& connection, std::size_t side) {
  Flow& flow = connection->flows[side];
  if (flow.flying.empty()) return;
  const End& from = connection->ends[side];
  const End& to = connection->ends[1 - side];
  const Instant free_at =
      std::max(flow.held_until, link_free_at(from.process->host(), to.process->host()));
  if (free_at > scheduler_.now()) {
    // One event for each piece stays in the queue, and each takes the oldest piece.
    scheduler_.at(free_at, [this, connection, side] { arrive(connection, side); });
    return;
  }
  Piece piece = std::move(flow.flying.front());
  flow.flying.pop_front();
  if (piece.last) {
    flow.ended = true;
    flow.reset = piece.reset;
  } else if (to.open) {
    flow.arrived += piece.bytes;
  } else {
    flow.in_kernel -= piece.bytes.size();
  }
  schedule_delivery(connection, 1 - side);
}

void Network::schedule_delivery(const ConnectionPtr& connection, std::size_t side) {
  const End& end = connection->ends[side];
  if (!end.open || !end.started) return;
  end.loop->run_at(scheduler_.now(), [this, connection, side] { deliver(connection, side); });
}

void Network::deliver(const ConnectionPtr& connection, std::size_t side) {
  End& end = connection->ends[side];
  Flow& flow = connection->flows[1 - side];
  // A reset is heard by a paused reader too, and takes with it what was not read.
  if (flow.ended && flow.reset && !end.reading) flow.arrived.clear();
  const bool ended = flow.ended && (end.reading || flow.reset);
  if (!end.open || !end.started || (!end.reading && !ended)) return;
  if (!flow.arrived.empty()) {
    const std::string bytes = std::exchange(flow.arrived, {});
    flow.in_kernel -= bytes.size();
    transmit(connection, 1 - side);
    scheduler_.note(EventKind::kBytes, connection->number * 2 + side, bytes);
    end.events->on_bytes(bytes);
  }
  if (end.open && ended && flow.arrived.empty()) hear_end(connection, side);
}

// ---- endings
// --------------------------------------------------------------------------------------

void Network::hear_end(const ConnectionPtr& connection, std::size_t side) {
  End& end = connection->ends[side];
  const bool reset = connection->flows[1 - side].reset;
  if (!reset && end.reads_no_more) return;
  if (!reset && end.events != nullptr) {
    end.reads_no_more = end.events->on_end();
    // It may have closed its end meanwhile.
    if (end.reads_no_more || !end.open) return;
  }
  end.open = false;
  net::StreamEvents* events = std::exchange(end.events, nullptr);
  connection->flows[side].kept.clear();
  end_flow(connection, side, false);
  scheduler_.note(EventKind::kClosed, connection->number * 2 + side, {});
  if (events != nullptr)
    events->on_closed({Code::kUnavailable, reset ? "connection reset by peer" : "closed by peer"});
}

void Network::end_flow(const ConnectionPtr& connection, std::size_t side, bool reset) {
  connection->flows[side].kept.clear();
  put_on_wire(connection, side, {.bytes = {}, .last = true, .reset = reset});
  forget_if_done(connection);
}

void Network::close(const ConnectionPtr& connection, std::size_t side) {
  End& end = connection->ends[side];
  end.events = nullptr;
  if (!end.open) return;
  end.open = false;
  end.loop = end.process->life() == end.life ? end.loop : nullptr;
  connection->flows[1 - side].arrived.clear();
  end_flow(connection, side, false);
}

void Network::forget_if_done(const ConnectionPtr& connection) {
  if (!connection->ends[0].open && !connection->ends[1].open)
    connections_.erase(connection->number);
}

std::vector<std::uint64_t> Network::connections(const std::string& connector,
                                                const std::string& acceptor) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, connection] : connections_) {
    const auto& ends = connection->ends;
    if (!ends[0].open || !ends[1].open) continue;
    if (!connector.empty() && ends[0].process->host() != connector) continue;
    if (!acceptor.empty() && ends[1].process->host() != acceptor) continue;
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::uint64_t> Network::busy_connections(const std::string& connector,
                                                     const std::string& acceptor) const {
  std::vector<std::uint64_t> numbers = connections(connector, acceptor);
  std::erase_if(numbers, [this](std::uint64_t number) {
    return connections_.at(number)->flows[0].flying.empty();
  });
  return numbers;
}

// The end's process is told now; nothing more arrives there.
void Network::break_end(const ConnectionPtr& connection, std::size_t side) {
  Flow& incoming = connection->flows[1 - side];
  incoming.flying.clear();
  incoming.arrived.clear();
  incoming.ended = true;
  incoming.reset = true;
  schedule_delivery(connection, side);
}

void Network::break_connection(std::uint64_t number, Break how, nanoseconds late) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  const ConnectionPtr connection = found->second;
  scheduler_.note(EventKind::kFault, number, "break");
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const bool told = how == Break::kBoth || (how == Break::kAtConnector) == (side == 0);
    if (!told) continue;
    // What this end has sent is still under way, perhaps for long; then the other end hears of it.
    Flow& outgoing = connection->flows[side];
    outgoing.held_until = scheduler_.now() + up_to(late);
    outgoing.arrives = outgoing.held_until + up_to(late);
    break_end(connection, side);
  }
}

void Network::crash(Process& process, Death death) {
  CHECK(process.alive());
  scheduler_.note(EventKind::kFault, process.number(), "crash");
  process.crash();
  std::erase_if(listening_, [&](const auto& item) { return item.second.process == &process; });
  const std::map<std::uint64_t, ConnectionPtr> all = connections_;
  for (const auto& [number, connection] : all) {
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      End& end = connection->ends[side];
      if (end.process != &process || !end.open) continue;
      end.open = false;
      end.events = nullptr;
      end.loop = nullptr;
      connection->flows[1 - side].arrived.clear();
      if (death == Death::kMachine)
        connection->flows[side].held_until = scheduler_.now() + up_to(kSilenceMax);
      end_flow(connection, side, death == Death::kMachine);
    }
  }
}

void Network::start(Process& process) {
  scheduler_.note(EventKind::kFault, process.number(), "start");
  process.start();
}

}  // namespace cleave::sim
