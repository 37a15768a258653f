// LatencyWatch: how long the servers take to answer a PING, on connections of its own.
//
// The driver's connections carry the copies themselves, and an answer there waits behind our own
// batches. Here it waits as a client's does: behind what the server works at just now.
//
// A server that a move touches is asked each 10 ms, so that a second has a 99th percentile; the
// others each 100 ms, for what was usual before.
//
// Threads: one loop.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backend/health.h"
#include "base/limits.h"
#include "base/rng.h"
#include "control/observe/latency_meter.h"
#include "net/loop.h"

namespace cleave::control {

class LatencyWatch {
 public:
  struct Options {
    net::Loop& loop;
    backend::Credentials credentials;
    SessionId session;  // whose connections these are, for CLIENT LIST
    Limits limits;
    std::uint64_t seed = 0;
  };

  explicit LatencyWatch(Options options);
  ~LatencyWatch();
  LatencyWatch(const LatencyWatch&) = delete;
  LatencyWatch& operator=(const LatencyWatch&) = delete;

  void follow(NodeId node, const net::Address& address);
  void forget(NodeId node) { servers_.erase(node); }

  // To be called once a second: what was measured since, of the servers that moves touch now.
  std::vector<ServerPace> end_second(const std::set<NodeId>& moving);

 private:
  struct Server {
    std::unique_ptr<backend::Prober> connection;
    LatencyMeter meter;
    Instant asked{0};  // 0: no answer is awaited
    bool moving = false;
  };

  void tick();
  void ask(NodeId node, Server& server);
  void answered(NodeId node, Instant asked, bool counts);

  Options options_;
  Rng rng_;
  std::map<NodeId, Server> servers_;
  std::uint64_t ticks_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
