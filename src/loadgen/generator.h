// The verifying load generator: traffic like a real application's over any Redis, and a judgement
// of every answer (loadgen/verifier.h).
//
//   filling     every key is written once                        (if asked for)
//   running     the measured phase: the mix, for its time or until `stop`
//   draining    what is under way comes to an end
//   sweeping    every key that was ever written is read          (if verified)
//
// Used by `cleave bench`, the demonstrations and the fault tests. Connections may break and routers
// may be killed at any time: requests without an answer count as unknown, and it goes on.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "loadgen/histogram.h"
#include "loadgen/keys.h"
#include "loadgen/report.h"
#include "net/loop.h"

namespace cleave::loadgen {

enum class Phase : std::uint8_t { kIdle, kFilling, kRunning, kDraining, kSweeping, kDone };

class Generator {
 public:
  // Shares are in thousandths. With other keys than registers, the measured mix has INCR, DEL and
  // SET PX among its writes. A write to a key that another client is writing becomes a read, so the
  // frequencies of the keys hold exactly, the share of reads at least.
  struct Options {
    std::vector<net::Address> addresses = {};  // of one or more routers (or servers)
    std::string password = {};                 // of the router; empty: none
    std::uint32_t clients = 50;
    std::uint32_t pipeline = 1;  // requests under way of each client
    Keys::Options keys = {};
    milliseconds shift_period{0};      // 0: the same keys are hot all the time
    std::uint32_t read_share = 500;    // of the requests
    std::uint32_t counter_share = 0;   // of the keys
    std::uint32_t erasable_share = 0;  // of the keys
    std::uint32_t expiring_share = 0;  // of the keys
    std::size_t value_bytes = 32;
    std::function<std::size_t(std::uint32_t key)> value_bytes_of = {};  // instead, key by key
    milliseconds ttl{2'000};                                            // of expiring keys
    milliseconds tolerance{200};                                        // around an expiry
    milliseconds duration{10'000};          // of the measured phase; 0: until `stop`
    std::uint64_t requests_per_second = 0;  // 0: as fast as they are answered
    bool fill = true;
    bool verify = true;
    milliseconds connect_timeout{1'000};
    milliseconds reply_timeout{5'000};
    milliseconds settle_timeout{60'000};  // for filling, and for sweeping
    std::uint64_t seed = 1;
    std::function<void(Phase)> on_phase = {};           // on each change
    std::function<void(const Second&)> on_second = {};  // in the measured phase
  };

  // Requires: addresses, clients, pipeline, keys not empty or zero.
  Generator(net::Loop& loop, Options options);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Once. `done` comes on the loop after the last phase.
  void start(std::function<void(const Report&)> done);
  // Ends the measured phase (or the filling) now; what is written is still swept.
  void stop();

  // From now on the requests go there: each client goes over once nothing of its is under way, so
  // that none is lost. Requires: not empty.
  void move_to(const std::vector<net::Address>& addresses);
  // Whether every client has gone over.
  bool has_moved() const;

  Phase phase() const;
  // How far filling or sweeping is: keys done, of how many.
  struct Progress {
    std::uint64_t done = 0;
    std::uint64_t of = 0;
  };
  Progress progress() const;
  // So far.
  Report report() const;
  // Latencies in microseconds of the measured phase since the last call.
  Histogram take_latency();

  const Keys& keys() const;
  // Probability of each key now, by index, in units of 2^-64: for bounds of the balance.
  std::vector<std::uint64_t> shares() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::loadgen
