// Network: streams between simulated processes, with what real networks do to them.
//
//   end 0 (connected)                                           end 1 (accepted)
//   send -> [kept] -> [kernel buffer: in flight, arrived] -> on_bytes
//
// Each direction keeps its order; pieces are cut at random points and take a random time. A buffer
// holds `buffer_bytes`; what does not fit is kept by the sender (Stream::unsent), so a reader that
// pauses pushes back. Faults: a connection broken at one end or both while its bytes are still on
// their way (they are delivered, and executed, later: protocol rule 6), stalled links, crashed
// processes and machines.
//
// Threads: one.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "net/loop.h"
#include "sim/process.h"
#include "sim/scheduler.h"

namespace cleave::sim {

class SimLoop;

// How messages travel when nothing is wrong.
struct NetworkOptions {
  nanoseconds latency_min = microseconds{20};
  nanoseconds latency_max = microseconds{200};
  // One piece of so many takes up to `spike_max` (a lost packet, a busy switch). 0: none.
  std::uint32_t spike_every = 500;
  nanoseconds spike_max = milliseconds{5};
  std::size_t buffer_bytes = 65'536;
  // One send of so many arrives in random pieces.
  std::uint32_t cut_every = 4;
};

// What becomes of connections between hosts of one kind, on top of that.
struct Unruly {
  std::string hosts = {};  // how the names of both ends begin; empty: of nobody
  // One connection of so many: what its caller asks, or else what it is answered, is lost with it;
  // one of its directions is held for up to `slow_max`; one of its ends hears the end of the other,
  // which goes on. 0: none.
  std::uint32_t lost_one_of = 0;
  std::uint32_t slow_one_of = 0;
  std::uint32_t half_closed_one_of = 0;
  nanoseconds slow_max = milliseconds{200};
};

// What a process has no descriptors or memory for.
enum class Exhausted : std::uint8_t {
  kAccepting,  // who calls waits
  kAll,        // nor can it call anybody
};

// How a connection breaks.
enum class Break : std::uint8_t {
  kAtConnector,  // the end that connected sees it now, the other one later
  kAtAcceptor,   // the other way round
  kBoth,         // both see it now
};

// What dies.
enum class Death : std::uint8_t {
  kProcess,  // kill -9: the kernel closes its connections, after what they had sent
  kMachine,  // the power: peers hear nothing for a while
};

class Network {
 public:
  Network(Scheduler& scheduler, const NetworkOptions& options);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // A process that lives; the network owns it.
  Process& add_process(const std::string& host);
  // Its events stop, its listeners and connections end. To be called between events.
  void crash(Process& process, Death death);
  // A new life without loops, listeners or connections.
  void start(Process& process);

  // Connections with both ends open between two hosts ("" = any), in order of their number.
  std::vector<std::uint64_t> connections(const std::string& connector,
                                         const std::string& acceptor) const;
  // Of those, the ones whose connector has bytes on their way now.
  std::vector<std::uint64_t> busy_connections(const std::string& connector,
                                              const std::string& acceptor) const;
  // What the connector has sent and is still on its way arrives up to `late` from now, and the
  // acceptor learns of the break up to `late` after that.
  void break_connection(std::uint64_t connection, Break how, nanoseconds late);
  // Nothing from `from` arrives at `to` until then. One direction: TCP holds and repeats.
  void stall(const std::string& from, const std::string& to, Instant until);
  // When something that leaves now can arrive; not later than now: nothing is in the way.
  Instant link_free_at(const std::string& from, const std::string& to) const;
  // Until then the processes of that host lack what connections take.
  void exhaust(const std::string& host, Exhausted what, Instant until);
  // All stalls and wants end now.
  void heal();
  void set_options(const NetworkOptions& options) { options_ = options; }
  // Of connections that are made from now on.
  void set_unruly(Unruly unruly) { unruly_ = std::move(unruly); }
  const NetworkOptions& options() const { return options_; }

 private:
  friend class SimLoop;
  friend class SimStream;
  friend class SimListener;

  struct Piece {
    std::string bytes;
    bool last = false;   // the sender closed after this
    bool reset = false;  // ... and not in peace
  };
  // From one end to the other.
  struct Flow {
    std::string kept;  // beyond the kernel's buffer
    std::deque<Piece> flying;
    std::string arrived;        // the receiver has not read it
    std::size_t in_kernel = 0;  // flying + arrived bytes
    Instant arrives{0};         // of the last piece: order is kept
    Instant held_until{0};      // a fault holds the whole flow
    std::uint64_t handed_over = 0;
    bool doomed = false;  // the first bytes that are sent break the connection
    bool shut = false;    // what is sent from now on goes nowhere
    bool ended = false;   // the last piece has arrived, or none is to come
    bool reset = false;
  };
  struct End {
    Process* process = nullptr;
    std::uint64_t life = 0;
    SimLoop* loop = nullptr;
    net::StreamEvents* events = nullptr;
    bool open = true;  // our side has not closed, died or heard the end
    bool reading = true;
    bool started = false;
    bool reads_no_more = false;  // has heard the end of the other, and stays
    std::string address;
  };
  struct Connection {
    std::uint64_t number = 0;
    std::array<End, 2> ends;
    std::array<Flow, 2> flows;  // flows[i]: from end i to end 1 - i
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  struct Listening {
    SimLoop* loop = nullptr;
    Process* process = nullptr;
    net::Loop::Acceptor acceptor;
  };

  // Of SimLoop.
  void connect(SimLoop& from, const net::Address& address, milliseconds timeout,
               net::Loop::Connected done);
  Result<net::Address> listen(SimLoop& loop, const net::Address& address,
                              net::Loop::Acceptor acceptor);
  void unlisten(const net::Address& address, const SimLoop* loop);

  // Of SimStream.
  void start_reading(const ConnectionPtr& connection, std::size_t side, net::StreamEvents& events);
  void send(const ConnectionPtr& connection, std::size_t side, std::string_view bytes);
  void resume_reading(const ConnectionPtr& connection, std::size_t side);
  void close(const ConnectionPtr& connection, std::size_t side);

  void arrive_call(SimLoop& from, const net::Address& address,
                   const std::shared_ptr<net::Loop::Connected>& done, Instant deadline);
  ConnectionPtr make_connection(SimLoop& connector, const Listening& listening,
                                const net::Address& address);
  void upset(const ConnectionPtr& connection);
  void half_close(const ConnectionPtr& connection, std::size_t side);
  void accept(const net::Address& address, const ConnectionPtr& connection);
  void transmit(const ConnectionPtr& connection, std::size_t side);
  void put_on_wire(const ConnectionPtr& connection, std::size_t side, Piece piece);
  void arrive(const ConnectionPtr& connection, std::size_t side);
  void schedule_delivery(const ConnectionPtr& connection, std::size_t side);
  void deliver(const ConnectionPtr& connection, std::size_t side);
  void end_flow(const ConnectionPtr& connection, std::size_t side, bool reset);
  void hear_end(const ConnectionPtr& connection, std::size_t side);
  void break_end(const ConnectionPtr& connection, std::size_t side);
  void forget_if_done(const ConnectionPtr& connection);
  bool lacks(const std::string& host, Exhausted what) const;
  void tell_paused(const std::string& host, bool paused);
  nanoseconds latency();
  nanoseconds up_to(nanoseconds bound);

  Scheduler& scheduler_;
  NetworkOptions options_;
  Unruly unruly_;
  Rng rng_;
  std::uint64_t next_number_ = 1;
  std::uint16_t next_port_ = 40'000;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::uint64_t, ConnectionPtr> connections_;
  std::map<net::Address, Listening> listening_;
  std::map<std::pair<std::string, std::string>, Instant> stalls_;
  Instant last_stall_{0};  // none lasts longer
  struct Want {
    Exhausted what = Exhausted::kAccepting;
    Instant until{0};
  };
  std::map<std::string, Want> wants_;  // by host
};

}  // namespace cleave::sim
