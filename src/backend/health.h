// Prober: the one judge of one node's health in this process (docs/ARCHITECTURE.md, "Health").
//
// It asks on a connection of its own, so that neither a queue of requests nor one worker's bad luck
// is taken for the server's state. It touches no key, so it needs no look at the ring document: a
// node can be seen to live while the coordinator is away.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/pipe.h"
#include "base/limits.h"
#include "net/loop.h"

namespace cleave::backend {

struct Health {
  bool up = false;
  std::string error = "not asked yet";  // why not; empty when up
  Identity identity;                    // as last seen; empty run_id: never
  microseconds latency{0};              // of the last PING that was answered
};

class Prober {
 public:
  struct Options {
    net::Address address;
    Credentials credentials;
    SessionId session;  // whose connection this is, for CLIENT LIST
    Limits limits;
    // On each change of `up` and of the incarnation.
    std::function<void(const Health&)> on_change;
  };

  // A PING each `probe_interval`. Up with the first +PONG; down after `probe_failures_max` failures
  // in a row, an error reply (-LOADING) and a silence of two intervals among them.
  Prober(net::Loop& loop, Rng rng, Options options);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  const Health& health() const;
  // The prober's connection, for questions to the server that touch no key (COMMAND, INFO).
  Pipe& pipe();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared only with its own callbacks
};

}  // namespace cleave::backend
