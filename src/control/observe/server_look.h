// ServerLook: what the servers of some nodes carry, asked while no router serves them: before a
// first ring is made, or before a saved one is given back to the coordinator.
//
// Its connections touch no client's key and are named `cleave:look.<session>`: a look is not a
// router at work.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis_store.h"
#include "backend/unchecked_gate.h"
#include "base/limits.h"
#include "base/rng.h"
#include "net/loop.h"
#include "ring/document/document.h"

namespace cleave::control {

// One node's primary as it was found.
struct FoundServer {
  std::string node;       // its name in the list that was asked for
  std::string address;    // "host:port"
  std::string error;      // why it could not be asked; empty: it was
  std::string mark = {};  // its ownership marker; empty: none
  backend::RingNote note = {};
  std::uint64_t keys = 0;
  std::string version = {};
  std::vector<std::string> routers =
      {};  // connections of routers at work: "cleave:SESSION from ADDRESS"
};

// The connections in a CLIENT LIST reply that are a router's or a driver's, and no look's.
std::vector<std::string> routers_at_work(std::string_view client_list);

// Nothing, or the routers at work on these servers: kConflict.
Result<void> nobody_at_work(const std::vector<FoundServer>& found);

class ServerLook {
 public:
  using Done = std::function<void(const std::vector<FoundServer>&)>;

  struct Options {
    net::Loop& loop;
    std::vector<ring::Node> nodes;
    backend::Credentials credentials;
    Limits limits;
    SessionId session;  // of the router that looks
    std::uint64_t seed = 0;
  };

  explicit ServerLook(Options options);

  // Asks all; `done` when each has answered or failed. One look at a time: another one that is
  // asked for meanwhile is answered with it.
  void ask(Done done);
  const std::vector<FoundServer>& found() const { return found_; }
  // Of node `index` of the list; nullptr where its address is none.
  backend::RedisStore* store(std::size_t index) const { return stores_[index].get(); }

 private:
  void ask_clients(std::size_t index);
  void answered();

  Options options_;
  backend::UncheckedGate gate_;
  std::vector<std::unique_ptr<backend::RedisStore>> stores_;
  std::vector<FoundServer> found_;
  std::vector<Done> waiting_;
  std::size_t open_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
