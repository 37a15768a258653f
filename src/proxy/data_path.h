// DataPath: what carries the requests of one process. Clients connect to it; it serves them from a
// snapshot of the ring and answers the driver's questions about moves (peer::RouterPeer).
//
//          control loop                           worker loops (one thread each)
//   set_view(snapshot) ----------- post --------> Worker: clients, pipes, dirty sets, heat
//   await_copying / take / fenced <-- post ------ what each worker has; joined here
//
// Protocol rules 9, 10 and 11 live in proxy/moves and proxy/dispatch. Views only go forward.
//
// Threads: the public functions belong to the control loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/pipe.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "net/loop.h"
#include "peer/fence_keeper.h"
#include "peer/key_counter.h"
#include "peer/router_peer.h"
#include "proxy/facts/counters.h"
#include "ring/view/view.h"
#include "route/command_table.h"

namespace cleave::proxy {

using FenceKeeper = peer::FenceKeeper;

// Counters of the whole process, summed over workers.
struct RouterStats {
  std::uint64_t clients = 0;
  std::uint64_t clients_total = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::uint64_t errors = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t held_now = 0;
  std::uint64_t held_total = 0;
  // How long requests were held, in steps of 1 ms; the last: so long or longer.
  std::vector<std::uint64_t> hold_ms_histogram;
  std::uint64_t retries = 0;       // reads sent again after a broken connection
  std::uint64_t clients_shed = 0;  // closed for reading too slowly or breaking the protocol
  std::vector<std::uint64_t> shed_by_cause;  // by ShedCause; their sum is clients_shed
  std::string last_shed;                     // who was, and why
  bool accepting = true;                     // false: new clients wait, descriptors are used up
  std::vector<NodeTraffic> nodes;            // of the view
};

// Health of one node as its one prober sees it.
struct NodeHealth {
  NodeId node;
  bool up = false;
  std::string error;           // why not
  backend::Identity identity;  // as last seen
  microseconds latency{0};     // of the last PING; 0: not known
};

class DataPath final : public peer::RouterPeer {
 public:
  struct Options {
    net::Loop& control;
    std::vector<net::Loop*> workers;
    std::vector<net::Address> listen;  // port 0 allowed; see addresses()
    // Called on the control loop; DataPath brings answers home to the workers. It must answer after
    // the `set_view` of a view at least as new as what it read: the workers then have it in time.
    backend::Gate& gate;
    FenceKeeper& fence_keeper;
    peer::KeyCounter& key_counter;
    backend::Credentials credentials;  // to the servers
    std::string client_password;       // empty: clients need none
    Limits limits;
    std::uint64_t seed = 0;
    Mutations mutations{};  // all false outside the simulator
  };

  explicit DataPath(Options options);
  ~DataPath() override;

  // The first view opens the pipes; listening starts when a server has told its COMMAND table.
  // Errors of listening are said through `ready`.
  void start(ring::RingSnapshot view, std::function<void(Result<void>)> ready);
  void set_view(ring::RingSnapshot view);
  // The session was removed (rule 2): errors every client, closes every pipe.
  void stop(const Error& why);

  // Descriptors that clients may not take: connections to servers that have to be made anew,
  // people, other routers and the coordinator need them.
  static std::size_t descriptors_kept(std::size_t nodes, std::size_t workers);

  // Before `start` nothing is there: no address, no node, zeros.
  std::vector<net::Address> addresses() const;
  std::vector<NodeHealth> health() const;
  void stats(std::function<void(RouterStats)> done);

  void await_copying(MoveId move, Epoch phase_epoch, Done<void> done) override;
  void take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
            Done<peer::DirtyBatch> done) override;
  void await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done) override;
  void take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) override;
  void count_keys(Done<std::uint64_t> done) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared only with its own callbacks
};

}  // namespace cleave::proxy
