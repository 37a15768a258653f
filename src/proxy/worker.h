// Worker: one loop's share of the data path. It puts the rooms together and says which of them
// takes a request; nothing of it is shared with another worker.
//
//   Clients --handle--> route --+--> Dispatch                        one node
//                               +--> Splits, KeyCounts, Flushes      several nodes
//                               +--> Answers                         the router itself
//
// Threads: its loop's. The DataPath posts to it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/mutation.h"
#include "net/loop.h"
#include "proxy/answers/server_commands.h"
#include "proxy/clients/clients.h"
#include "proxy/dispatch/dispatch.h"
#include "proxy/facts/process_facts.h"
#include "proxy/fan_out/flushes.h"
#include "proxy/fan_out/gathering.h"
#include "proxy/fan_out/key_counts.h"
#include "proxy/fan_out/splits.h"
#include "ring/view/view.h"
#include "route/route.h"
#include "wire/resp.h"

namespace cleave::proxy {

class Worker final : private Clients::Handler {
 public:
  struct Options {
    std::size_t number = 0;  // among the process's workers
    net::Loop& loop;
    std::unique_ptr<backend::Gate> gate;  // answers on `loop`
    std::shared_ptr<ProcessFacts> process;
    backend::Credentials credentials;
    std::string client_password;
    Limits limits;
    Mutations mutations;
    std::uint64_t seed = 0;
    // Asks the pool's leader; answered on `loop`, once, unless the control side has gone.
    std::function<void(KeysCounted)> count_keys;
    // Called on `loop`.
    std::function<void(Epoch)> adopted;
    Moving::Cleared cleared;
  };

  explicit Worker(Options options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  net::Loop& loop() const { return options_.loop; }
  // What the DataPath asks and orders beside the orders here.
  const Clients& clients() const { return clients_; }
  Dispatch& dispatch() { return dispatch_; }

  // Views only go forward: an older one is passed over.
  void adopt(const ring::RingSnapshot& view);
  void learn(std::shared_ptr<const ServerCommands> commands);
  // Requires: a view and the command table.
  void add_client(std::unique_ptr<net::Stream> stream);
  // Tells every client why, closes everything; nothing is sent any more.
  void stop(const Error& why);

 private:
  WorkerCounters& counters() { return options_.process->workers[options_.number]; }
  void keep_house();

  void handle(Client& client, const wire::Request& said) override;
  void carry_out(Client& client, const route::Decision& decision, const wire::Request& said);
  void everywhere(Client& client, const route::Decision& decision, const wire::Request& said);
  void answer(Client& client, const route::Decision& decision, const wire::Request& said);
  void refuse(Client& client, std::string_view text);
  wire::Request clean(const wire::Request& said);

  Options options_;
  std::shared_ptr<const ServerCommands> commands_;
  std::unique_ptr<route::CommandRouter> router_;
  Clients clients_;
  Dispatch dispatch_;
  Gatherings gatherings_;
  Splits splits_;
  KeyCounts key_counts_;
  Flushes flushes_;
  net::TimerId house_;
  bool stopped_ = false;

  // Memory that one request after the other is read and decided with.
  route::Decision decision_;
  std::string reply_;
  std::string reencoded_;
  wire::RequestParser reparser_;
};

}  // namespace cleave::proxy
