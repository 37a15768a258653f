#include "sim/world/peers.h"

#include <algorithm>
#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kPeersRng = 0x7065657273;

}  // namespace

PeerNetwork::PeerNetwork(Scheduler& scheduler, Network& network)
    : scheduler_(scheduler), network_(network), rng_(scheduler.fork(kPeersRng)) {}

void PeerNetwork::add(const SessionId& session, SimLoop& loop, peer::RouterPeer& router) {
  routers_[session] = {&loop, &router};
}

nanoseconds PeerNetwork::latency() {
  return nanoseconds(1 + rng_.below(static_cast<std::uint64_t>(options_.latency_max.count())));
}

bool PeerNetwork::loses() {
  return options_.lost_one_of != 0 && rng_.chance(1, options_.lost_one_of);
}

// What meets a partition is held and arrives when it has ended, or never.
std::optional<Instant> PeerNetwork::arrival(const SimLoop& from, const SimLoop& to) {
  if (loses()) return std::nullopt;
  const Instant free_at = network_.link_free_at(from.process().host(), to.process().host());
  if (free_at > scheduler_.now() && rng_.chance(1, 2)) return std::nullopt;
  return std::max(scheduler_.now(), free_at) + latency();
}

template <class T>
void PeerLink::call(Ask<T> ask, Done<T> done) {
  // Answered once: by the router or by our patience.
  auto shared = std::make_shared<Done<T>>(std::move(done));
  const auto answer = [shared](Result<T> result) {
    if (*shared != nullptr) std::exchange(*shared, nullptr)(std::move(result));
  };
  Scheduler& scheduler = network_.scheduler_;
  caller_.run_at(scheduler.now() + network_.options_.patience, [answer, session = session_] {
    answer(fail(Code::kTimeout, "router " + session.value() + " does not answer"));
  });
  const auto called = network_.routers_.find(session_);
  if (called == network_.routers_.end()) {
    caller_.run_at(scheduler.now() + network_.latency(), [answer, session = session_] {
      answer(fail(Code::kUnavailable, "router " + session.value() + " is gone"));
    });
    return;
  }
  SimLoop& there = *called->second.loop;
  const std::optional<Instant> arrives = network_.arrival(caller_, there);
  if (!arrives) return;
  const auto back = [&network = network_, &caller = caller_, &there, exists = caller_.existence(),
                     answer](Result<T> result) {
    if (exists.expired()) return;
    const std::optional<Instant> answers = network.arrival(there, caller);
    if (!answers) return;
    caller.run_at(*answers, [answer, result = std::move(result)] { answer(result); });
  };
  there.run_at(*arrives, [&network = network_, session = session_, back, ask = std::move(ask)] {
    const auto still = network.routers_.find(session);
    if (still != network.routers_.end()) ask(*still->second.router, back);
  });
}

void PeerLink::await_copying(MoveId move, Epoch phase_epoch, Done<void> done) {
  call<void>(
      [move, phase_epoch](peer::RouterPeer& router, Done<void> answer) {
        router.await_copying(move, phase_epoch, std::move(answer));
      },
      std::move(done));
}

void PeerLink::take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
                    Done<peer::DirtyBatch> done) {
  call<peer::DirtyBatch>(
      [move, phase_epoch, order](peer::RouterPeer& router, Done<peer::DirtyBatch> answer) {
        router.take(move, phase_epoch, order, std::move(answer));
      },
      std::move(done));
}

void PeerLink::await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done) {
  call<peer::FencedAck>(
      [move, phase_epoch](peer::RouterPeer& router, Done<peer::FencedAck> answer) {
        router.await_fenced(move, phase_epoch, std::move(answer));
      },
      std::move(done));
}

void PeerLink::take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) {
  call<std::vector<heat::Report>>(
      [prices](peer::RouterPeer& router, Done<std::vector<heat::Report>> answer) {
        router.take_heat(prices, std::move(answer));
      },
      std::move(done));
}

void PeerLink::count_keys(Done<std::uint64_t> done) {
  call<std::uint64_t>([](peer::RouterPeer& router,
                         Done<std::uint64_t> answer) { router.count_keys(std::move(answer)); },
                      std::move(done));
}

peer::RouterPeer* PeerDirectory::find(const SessionId& session) {
  const auto found = network_.routers_.find(session);
  if (found == network_.routers_.end()) return nullptr;
  if (session == own_) return found->second.router;
  std::unique_ptr<PeerLink>& link = links_[session];
  if (link == nullptr) link = std::make_unique<PeerLink>(network_, loop_, session);
  return link.get();
}

}  // namespace cleave::sim
