// RedisStore: a Store on a stock Redis or Valkey server, 6.2 or newer, through one Pipe.
//
// Reading a key takes two steps, pipelined over the batch: first its age (`OBJECT FREQ` or
// `IDLETIME`, which DUMP would reset; only where the server evicts by it) and size, then `DUMP`
// with the absolute expiry. A key above the big-value limit is reported, not dumped: DUMP would
// stop the server while it works.
//
// An error reply that is said of the server (backend/refusal.h) fails the whole call.
//
// Threads: one loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/commands.h"
#include "backend/pipe.h"
#include "backend/store.h"
#include "base/limits.h"
#include "base/own_names.h"
#include "net/loop.h"

namespace cleave::backend {

// The ownership marker's key (protocol rule 12) and the prefix of everything that is the router's
// own: never copied, purged, cleaned or counted.
inline constexpr std::string_view kMarkerKey = "cleave:{owner}";
inline constexpr std::string_view kOwnPrefix = kOwnKeyPrefix;
// The note of the ring that the server serves (backend/ring_note.h): of no range, as the marker is.
inline constexpr std::string_view kRingKey = "cleave:{ring}";

class RedisStore final : public Store {
 public:
  RedisStore(net::Loop& loop, Gate& gate, Rng rng, Pipe::Options options);

  void identify(Done<StoreIdentity> done) override;
  void facts(Done<StoreFacts> done) override;
  void list(const std::string& from, KeyFilter filter, Done<Page> done) override;
  void read(std::vector<std::string> keys, Done<std::vector<Item>> done) override;
  void write(std::vector<Item> items, Done<Wrote> done) override;
  void remove(std::vector<std::string> keys, Done<std::uint64_t> done) override;
  void wait_replicas(std::uint32_t replicas, Done<std::uint32_t> done) override;
  void mark(const std::string& value, Done<void> done) override;
  // Writes the note. An id that the server has already stays; the answer is the note as it is then.
  // Requires: the server carries the note's ring as its marker.
  void write_note(RingNote note, Done<RingNote> done);
  // Writes the marker over whatever there is: by a person's order only.
  void take_over(const std::string& value, Done<void> done);
  std::size_t unfinished() const override { return pipe_.unfinished(); }

  // For what has no place in the engine-neutral interface (sweep, big values).
  void run(const Commands& commands, RepliesDone done);
  bool usable() const { return pipe_.usable(); }
  // The largest argument of a command that the server takes, as of the last facts(): a longer one
  // would cost the connection.
  std::uint64_t argument_bytes_max() const { return argument_bytes_max_; }
  // Whether it may drop keys for want of memory, as of the last facts(): then one may vanish and
  // come again, and no write tells.
  bool may_evict() const { return may_evict_; }
  std::string last_error() const { return pipe_.last_error(); }

 private:
  // An identity whose clock may yet be told better.
  struct Clocked {
    StoreIdentity identity;
    nanoseconds best{0};  // round trip of a TIME
    std::uint32_t trips = 1;
  };
  void look_at_clock(Clocked so_far, Done<StoreIdentity> done);
  void measure(std::vector<Item> items, Done<std::vector<Item>> done);
  void read_values(std::vector<Item> items, Done<std::vector<Item>> done);

  net::Loop& loop_;
  Limits limits_;
  std::string user_;
  // By what the server evicts: "FREQ", "IDLETIME", or "" when by neither. Asking costs the source a
  // fifth of a small key's move.
  std::string_view age_option_ = "IDLETIME";
  bool may_evict_ = true;
  std::uint64_t argument_bytes_max_ = std::uint64_t{512} << 20U;  // Redis's proto-max-bulk-len
  bool has_expire_time_ = true;  // PEXPIRETIME (7.0); else MULTI; DUMP; PTTL; TIME; EXEC
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  Pipe pipe_;
};

}  // namespace cleave::backend
