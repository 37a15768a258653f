// Workload: clients of the routers, as real ones behave: they pipeline, give up, reconnect to
// whichever router, and write values that nobody wrote before, so that every read tells who wrote
// what it saw.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/loop.h"
#include "sim/sim_loop.h"
#include "sim/world/demand.h"
#include "sim/world/history.h"
#include "sim/world/rhythm.h"
#include "wire/resp.h"

namespace cleave::sim {

// The number that a stored value stands for ("1000007:xxxx" -> 1000007); -1: none.
std::int64_t stored_number(std::string_view text);

// What the simulated clients do.
struct WorkloadOptions {
  std::size_t clients = 6;
  std::size_t registers = 12;
  std::size_t counters = 4;
  std::size_t expiring = 4;
  std::size_t collections =
      0;                     // hashes, sets and sorted sets in turn, each element a key of its own
  std::size_t elements = 8;  // of each
  std::uint64_t reads_percent = 40;
  std::size_t pipeline_max = 4;
  nanoseconds pause_max = milliseconds{6};   // between a client's batches, in a burst
  nanoseconds quiet_pause_max = seconds{4};  // ... and between bursts
  Rhythm rhythm;
  std::uint64_t roam_one_of = 30;              // batches: then the client tries another router
  std::uint64_t flush_one_of = 0;              // operations: a FLUSHALL; 0: none ever
  std::size_t padding_max = 40;                // bytes behind a register's value
  nanoseconds clock_slack = milliseconds{60};  // by which an expiry may be off
  DemandOptions demand;                        // two operations of three are of this kind
};

// How to send one operation and what its reply means.
struct Planned {
  std::string bytes;
  std::vector<OpRef> ops;  // one for each key
  bool per_key = false;    // the reply is an array with an element for each
  bool member = false;     // the reply tells whether it is there
  nanoseconds expires{0};  // of a write that expires
  Instant called{0};
};

// Where what the history calls a key lies on a server.
struct Place {
  std::string key;
  std::string element;  // empty: the whole key
};

class Workload;

// One connection after the other of one client.
class WorkloadClient final : public net::StreamEvents {
 public:
  WorkloadClient(Workload& workload, SimLoop& loop, std::string name, Rng rng)
      : workload_(workload), loop_(loop), name_(std::move(name)), rng_(rng) {}

  void connect_soon();
  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;
  bool connected() const { return stream_ != nullptr; }
  bool idle() const { return open_.empty(); }

 private:
  void connect();
  void connected(Result<std::unique_ptr<net::Stream>> result);
  void next_batch();
  void watch(std::uint64_t connection);
  void give_up();
  void answered(const wire::Reply& reply);
  nanoseconds pause();

  Workload& workload_;
  SimLoop& loop_;
  std::string name_;
  Rng rng_;
  std::unique_ptr<net::Stream> stream_;
  std::uint64_t connection_ = 0;
  std::string pending_;
  wire::ReplyScanner scanner_{Limits{}};
  std::deque<Planned> open_;
  bool failed_ = false;  // some reply of the batch was an error
};

class Workload {
 public:
  // `routers`: where clients may connect now.
  using Routers = std::function<std::vector<net::Address>()>;

  Workload(Scheduler& scheduler, Network& network, const WorkloadOptions& options, Routers routers);
  ~Workload();

  void start();
  // No new operations; what is open is waited for.
  void stop() { stopped_ = true; }
  // The next operation planned is a FLUSHALL.
  void flush_soon() { flush_next_ = true; }
  // Reads every key again and again until each was read once since the call.
  void read_everything();
  bool everything_read() const { return unread_.empty(); }
  std::vector<std::string> unread() const { return {unread_.begin(), unread_.end()}; }

  History& history() { return history_; }
  // Of servers; collections are not among them.
  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& collections() const { return collections_; }
  // By the history's keys.
  const std::map<std::string, Place>& places() const { return places_; }
  // What no client should ever hear: bytes that are no reply, replies nobody asked for.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  friend class WorkloadClient;

  Planned plan(Rng& rng, const std::string& who);
  Planned plan_demand(Rng& rng, const std::string& who);
  Planned plan_register(Rng& rng, const std::string& who);
  Planned read_or_write(Rng& rng, const std::string& key, const std::string& who);
  Planned plan_counter(Rng& rng, const std::string& who);
  Planned plan_expiring(Rng& rng, const std::string& who);
  Planned plan_several(Rng& rng, const std::string& who);
  Planned plan_element(Rng& rng, const std::string& who);
  Planned plan_removal(const std::string& key, const std::string& who);
  Planned plan_flush(const std::string& who);
  Planned plan_reading(const std::string& who);
  Planned one(const std::string& key, Op op, const std::string& who,
              std::initializer_list<std::string_view> args);
  std::string new_value(Rng& rng, std::int64_t& value);
  void finish(const Planned& planned, const wire::Reply& reply);
  void lose(const Planned& planned);
  void expect_expiry(const Planned& planned, std::optional<Instant> returned);

  Scheduler& scheduler_;
  WorkloadOptions options_;
  Routers routers_;
  History history_;
  std::unique_ptr<Demand> demand_;  // nullptr: none
  std::vector<std::string> keys_;   // registers first, those in demand last
  std::vector<std::string> collections_;
  std::map<std::string, Place> places_;
  std::int64_t next_value_ = 1'000'000;
  bool stopped_ = false;
  bool flush_next_ = false;
  bool reading_ = false;
  std::set<std::string> unread_;
  std::vector<std::string> broken_;
  std::vector<std::unique_ptr<SimLoop>> loops_;
  std::vector<std::unique_ptr<WorkloadClient>> clients_;
};

}  // namespace cleave::sim
