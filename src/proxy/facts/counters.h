// What a worker counts, readable from every thread: each counter has one writer, so that counting
// is a plain store and nobody waits.
//
// Threads: `add` and `sub` on the owning worker only; `get` anywhere.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"

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

// The last client that was closed by us: who, and why.
struct Shed {
  Instant at{0};
  std::string text;
};

// Why a command did not do what its client wanted: what its server said, or that it said nothing.
enum class ErrorCause : std::uint8_t {
  kOom,
  kReadonly,
  kLoading,
  kMisconf,
  kNoauth,  // NOAUTH, WRONGPASS, NOPERM: its user may not
  kBusy,
  kNoreplicas,
  kMasterdown,  // MASTERDOWN, CLUSTERDOWN
  kTimeout,     // no reply in time
  kClosed,      // no connection, or it broke
  kOther,       // mostly what is wrong with the command: ERR, WRONGTYPE, ...
};
inline constexpr std::size_t kErrorCauses = 11;
// As a label of metrics.
std::string_view to_string(ErrorCause cause);
// Of an error reply, without its '-'.
ErrorCause cause_of(std::string_view error);
// It is said of the server, by its words: the next command would hear the same.
inline bool is_refusal(ErrorCause cause) { return cause < ErrorCause::kTimeout; }

// What went between one worker, or all, and one node.
struct NodeTraffic {
  NodeId node;
  std::array<std::uint64_t, kErrorCauses> errors{};  // by cause
  // Of requests that share a connection: how many were sent and answered, and how long all of them
  // together waited in the router and at the server (backend::PipeStats).
  std::uint64_t sent = 0;
  std::uint64_t replies = 0;
  nanoseconds queued{0};
  nanoseconds served{0};

  NodeTraffic& operator+=(const NodeTraffic& other);
};

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
