// Trace: requests that were really made, from a file or from the output of MONITOR.
//
//   CSV       time,key,op,bytes            a header line may stand first; fields may be quoted
//   MONITOR   1339518083.107412 [0 127.0.0.1:60866] "set" "x" "3"
//
// Times are seconds with a fraction; `op` is a command's name, or read or write. A command counts
// for its first key only: keys of one request mostly share a tag, and a request is one request.
// Where the key stands, and what a command does, is known for common commands
// (rehearse/workloads/trace_commands.h); of any other the first argument is the key, and it writes.
//
// Lines that are neither are counted and reported, never fatal. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/recorder.h"

namespace cleave::rehearse {

// A key that was asked for.
struct TraceKey {
  std::string name = {};
  Token token = {};
  std::uint64_t bytes = 0;  // the most that one request carried

  friend bool operator==(const TraceKey&, const TraceKey&) = default;
};

// One request for one key.
struct TraceRequest {
  nanoseconds at{0};      // since the first request; never before the one before it
  std::uint32_t key = 0;  // of Trace::keys
  heat::Access access = heat::Access::kRead;
  std::uint32_t bytes = 0;

  friend bool operator==(const TraceRequest&, const TraceRequest&) = default;
};

// A line that says nothing.
struct TraceFault {
  std::uint64_t line = 0;  // from 1
  std::string why = {};

  friend bool operator==(const TraceFault&, const TraceFault&) = default;
};

struct Trace {
  std::vector<TraceKey> keys = {};  // in the order in which they were first asked for
  std::vector<TraceRequest> requests = {};
  std::uint64_t lines = 0;
  std::uint64_t keyless = 0;            // commands without a key: PING, INFO, EXEC, ...
  std::uint64_t bad = 0;                // lines that could not be read
  std::vector<TraceFault> faults = {};  // the first of them
  bool full = false;                    // limits were reached: what came later is not in it
};

// The longest request and the most that a trace holds: about 1 GiB of memory.
struct TraceLimits {
  std::size_t line_bytes = 65'536;
  std::size_t requests = 20'000'000;
  std::size_t keys = 4'000'000;
  std::size_t faults = 20;
};

enum class TraceFormat : std::uint8_t { kCsv, kMonitor };

// Line by line.
class TraceParser {
 public:
  explicit TraceParser(TraceFormat format, TraceLimits limits = {})
      : format_(format), limits_(limits) {}

  // One line, without its end. Cost: O(length x log keys).
  void line(std::string_view text);

  // A line that was too long to be given.
  void long_line();

  const Trace& trace() const { return trace_; }
  Trace take() { return std::move(trace_); }

 private:
  void csv(std::string_view text);
  void monitor(std::string_view text);
  void request(nanoseconds time, std::string_view key, heat::Access access, std::uint64_t bytes);
  void bad(std::string why);

  TraceFormat format_;
  TraceLimits limits_;
  Trace trace_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // of keys
  nanoseconds first_{0};
};

// All lines of a stream. Its memory is bounded by the limits, whatever the stream holds.
Trace read_trace(std::istream& in, TraceFormat format, TraceLimits limits = {});

}  // namespace cleave::rehearse
