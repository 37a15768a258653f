// What a worker counts, readable from every thread: each counter has one writer, so that counting
// is a plain store and nobody waits.
//
// Threads: `add` and `sub` on the owning worker only; `get` anywhere.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleave::proxy {

// Written by one thread, read by any; a sum may be a moment old.
class Counter {
 public:
  void add(std::uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void sub(std::uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) - by, std::memory_order_relaxed);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Why a client was closed by the router.
enum class ShedCause : std::uint8_t {
  kStalled,   // did not read its replies for too long
  kUnread,    // let too many bytes of replies pile up
  kProtocol,  // what it sent is no request
  kHttp,      // speaks HTTP
};
inline constexpr std::size_t kShedCauses = 4;
// As a label of metrics.
std::string_view to_string(ShedCause cause);

// Requests held for 0 ms, 1 ms, ... and, last, for this long or longer.
inline constexpr std::size_t kHoldSteps = 256;

// What one worker counts.
struct WorkerCounters {
  Counter clients;                                // connected now
  Counter clients_total;                          // ever
  std::array<Counter, kShedCauses> clients_shed;  // closed by us, by cause
  Counter requests;
  Counter refused;  // by the router itself, with an error
  Counter errors;   // errors of the router's about a server
  Counter timeouts;
  Counter retries;  // reads sent again after a connection was lost
  Counter held_now;
  Counter held_total;
  std::array<Counter, kHoldSteps + 1> hold_ms;
};

}  // namespace cleave::proxy
