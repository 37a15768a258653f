// ModelServer: a redis-server of the simulated world.
//
// It speaks RESP2 over simulated streams, runs commands one at a time in the order in which they
// arrived, whoever's they are, and knows what the router, the driver and the workload use. What a
// connection sent before it broke is run nevertheless, until it is killed (protocol rule 6):
//
//   bytes -> [inbox of the connection] -> [one queue of all connections] -> run -> reply
//              CLIENT KILL empties both for that connection, now
//
// Faults: crash and start again with or without the changes that were not yet written to disk, a
// failover to a replica that lacks the newest changes, and a server that says no to what a move
// asks of it, in the words of a real one.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.h"
#include "sim/model/keyspace.h"
#include "sim/network.h"
#include "sim/sim_loop.h"
#include "wire/resp.h"

namespace cleave::sim {

class ModelServer {
 public:
  struct Options {
    net::Address address;
    std::string password;                        // empty: none
    nanoseconds command_max = microseconds{20};  // one command takes up to so long,
    nanoseconds key_command_max{0};              // one on a key by a router up to so long; 0: too
    std::int64_t clock_skew_ms = 0;              // of its wall clock
    std::uint32_t replicas = 0;                  // connected ones, all up to date
    bool durable = true;                         // every change is on disk before its reply
    std::uint64_t seed = 0;
  };
  // Each command as it ran, with its reply; for checkers.
  using Observer = std::function<void(const ModelServer&, std::span<const std::string> args,
                                      std::string_view connection_name)>;

  ModelServer(Scheduler& scheduler, Network& network, Options options);
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  // kill -9 or the power. To be called between events, while it runs.
  void crash(Death death);
  // A new run. Up to `changes_lost` of the changes that were not on disk are gone. Returns their
  // keys.
  std::set<std::string> start(std::size_t changes_lost);
  // The newest changes are gone and the replication id is new. Either a replica took the address
  // (all connections break), or the server itself was demoted, synchronised from a replica and
  // promoted again (they survive, as tried on redis-server 7.0). Returns the keys of lost changes.
  enum class Connections : std::uint8_t { kBreak, kSurvive };
  std::set<std::string> failover(std::size_t changes_lost, Connections connections);

  bool running() const { return process_.alive(); }
  Process& process() { return process_; }
  Keyspace& keys() { return keys_; }
  const Options& options() const { return options_; }
  void observe(Observer observer) { observer_ = std::move(observer); }
  // From now on one command takes up to so long.
  void set_command_max(nanoseconds most) { options_.command_max = most; }
  // From now on it answers this command with an error of these words; "" = none any more.
  void refuse(std::string command, std::string words) {
    refused_command_ = std::move(command);
    refusal_ = std::move(words);
  }
  // Its wall clock jumps.
  void set_clock_skew(std::int64_t ms) { options_.clock_skew_ms = ms; }
  // The keyspace as the server's clock sees it now.
  Keyspace& current();
  std::size_t clients() const { return clients_.size(); }
  std::uint64_t commands_run() const { return commands_run_; }
  // By the command that runs now, of the one thread.
  nanoseconds took() const { return took_; }

 private:
  friend struct AdminCommands;

  struct Client final : net::StreamEvents {
    Client(ModelServer& owner, std::uint64_t number, std::unique_ptr<net::Stream> opened);
    void on_bytes(std::string_view bytes) override { server.read(*this, bytes); }
    void on_closed(const Error& why) override;

    ModelServer& server;
    std::uint64_t id;
    std::unique_ptr<net::Stream> stream;
    wire::RequestParser parser;
    std::string inbox;
    std::string name;
    Instant since{0};
    bool authenticated = false;
    bool in_transaction = false;
    bool transaction_broken = false;
    bool closing = false;  // after its reply
    std::vector<std::vector<std::string>> transaction;
  };
  // What a connection asked for, or its end.
  struct Request {
    std::uint64_t client = 0;
    std::vector<std::string> args;
    std::string protocol_error;  // the last thing of a connection
    bool ended = false;          // the peer is gone
  };

  void open();
  void read(Client& client, std::string_view bytes);
  void enqueue(Request request);
  void schedule();
  nanoseconds longest(const Request& request) const;
  void run_next();
  void execute(Client& client, std::span<const std::string> args, std::string& reply);
  // False: refused, and answered.
  bool admit(Client& client, std::span<const std::string> args, std::string& reply);
  void run_command(Client& client, std::span<const std::string> args, std::string& reply);
  // False: no such connection.
  bool kill(std::uint64_t id);
  void new_incarnation();
  std::string random_hex();

  Scheduler& scheduler_;
  Network& network_;
  Options options_;
  Process& process_;
  Rng rng_;
  Keyspace keys_;
  std::string run_id_;
  std::string replication_id_;
  std::unique_ptr<SimLoop> loop_;
  std::unique_ptr<net::Listener> listener_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::deque<Request> queue_;
  bool scheduled_ = false;
  std::uint64_t next_client_ = 1;
  std::uint64_t commands_run_ = 0;
  struct Calls {
    std::uint64_t count = 0;
    nanoseconds took{0};
  };
  std::map<std::string, Calls, std::less<>> calls_;
  nanoseconds took_{0};
  Observer observer_;
  std::string refused_command_;  // in lower case; empty: none
  std::string refusal_;
};

}  // namespace cleave::sim
