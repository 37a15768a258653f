// How the controllers of a simulated world reach each other's routers: calls that take their time,
// may be lost on either way, meet partitions, and are answered once all the same (kTimeout,
// kUnavailable).
//
// Threads: one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "peer/router_peer.h"
#include "sim/sim_loop.h"

namespace cleave::sim {

// How slow routers are to one another.
struct PeerOptions {
  nanoseconds latency_max = microseconds{300};
  nanoseconds patience = milliseconds{400};
  std::uint32_t lost_one_of = 0;  // 0: none
};

// Which sessions run where. One for a world.
class PeerNetwork {
 public:
  PeerNetwork(Scheduler& scheduler, Network& network);

  void set_options(const PeerOptions& options) { options_ = options; }
  void add(const SessionId& session, SimLoop& loop, peer::RouterPeer& router);
  void remove(const SessionId& session) { routers_.erase(session); }

 private:
  friend class PeerLink;
  friend class PeerDirectory;

  struct Entry {
    SimLoop* loop;
    peer::RouterPeer* router;
  };
  nanoseconds latency();
  bool loses();
  // When a message can arrive; nullopt: never.
  std::optional<Instant> arrival(const SimLoop& from, const SimLoop& to);

  Scheduler& scheduler_;
  Network& network_;
  PeerOptions options_;
  Rng rng_;
  std::map<SessionId, Entry> routers_;
};

// One router as another process sees it.
class PeerLink final : public peer::RouterPeer {
 public:
  PeerLink(PeerNetwork& network, SimLoop& caller, SessionId session)
      : network_(network), caller_(caller), session_(std::move(session)) {}

  void await_copying(MoveId move, Epoch phase_epoch, Done<void> done) override;
  void take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
            Done<peer::DirtyBatch> done) override;
  void await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done) override;
  void take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) override;
  void count_keys(Done<std::uint64_t> done) override;

 private:
  template <class T>
  using Ask = std::function<void(peer::RouterPeer&, Done<T>)>;
  template <class T>
  void call(Ask<T> ask, Done<T> done);

  PeerNetwork& network_;
  SimLoop& caller_;
  SessionId session_;
};

// What one process's controller knows: itself directly, others through links.
class PeerDirectory final : public peer::Directory {
 public:
  PeerDirectory(PeerNetwork& network, SimLoop& loop, SessionId own)
      : network_(network), loop_(loop), own_(std::move(own)) {}

  peer::RouterPeer* find(const SessionId& session) override;

 private:
  PeerNetwork& network_;
  SimLoop& loop_;
  SessionId own_;
  std::map<SessionId, std::unique_ptr<PeerLink>> links_;
};

}  // namespace cleave::sim
