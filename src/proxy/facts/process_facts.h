// ProcessFacts: what is true of the whole router process, for INFO and HELLO.
//
// Threads: made before the workers, read by all of them; the counters say who writes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "proxy/facts/counters.h"

namespace cleave::proxy {

struct ProcessFacts {
  ProcessFacts(std::string its_session, Instant now, std::size_t worker_count)
      : session(std::move(its_session)), started(now), workers(worker_count) {}

  std::string session;
  Instant started;
  std::atomic<std::uint16_t> port{0};  // of the first listener
  std::atomic<bool> accepting{true};   // false: no descriptor is left for a client
  std::vector<WorkerCounters> workers;

  std::uint64_t shed(ShedCause cause) const {
    std::uint64_t total = 0;
    for (const WorkerCounters& worker : workers) {
      total += worker.clients_shed[static_cast<std::size_t>(cause)].get();
    }
    return total;
  }
  std::uint64_t shed() const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < kShedCauses; ++i) total += shed(static_cast<ShedCause>(i));
    return total;
  }
  // Summed over the workers.
  std::uint64_t sum(Counter WorkerCounters::* which) const {
    std::uint64_t total = 0;
    for (const WorkerCounters& worker : workers) total += (worker.*which).get();
    return total;
  }
};

}  // namespace cleave::proxy
