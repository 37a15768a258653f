// Store: one server as a driver uses it: list the keys of ranges, read, write and remove items.
// Engine-neutral, so that another engine's servers can be moved between by the same driver.
//
// Threads: one loop; callbacks run there, once for each call, unless the Store is destroyed first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ring_note.h"
#include "base/ids.h"
#include "base/result.h"

namespace cleave::backend {

// Who the server is now.
struct StoreIdentity {
  Incarnation incarnation;
  bool primary = false;
  std::uint32_t replicas = 0;  // connected ones
  std::uint64_t offset = 0;    // of its replication stream
  // The life before its last failover, and where in its stream that ended.
  std::string former_replication_id;
  std::uint64_t former_offset = 0;
  std::string mark;  // ownership marker; empty: none
  RingNote note;     // what it knows of its ring; all empty: nothing
  // TIME less our own steady clock at half the shortest of a few round trips: for comparisons
  // between servers, which neither a jump of our wall clock nor a slow command must bend.
  std::int64_t clock_ms = 0;
};

// And how it is.
struct StoreFacts {
  StoreIdentity identity;
  std::uint64_t keys = 0;  // without the marker and the note
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_max = 0;  // 0 = no limit
  std::string eviction_policy;         // "noeviction", "allkeys-lru", ...
  std::uint64_t commands = 0;          // processed since its start
  std::string version;
  std::string command_stats;  // INFO commandstats, as text
  std::string keyspace;       // INFO keyspace, likewise
  std::uint64_t cpu_us = 0;   // of the thread of its commands, since its start; 0: not told
  // In which it writes values (backend/refusal.h); 0 = not known: it has no marker yet.
  std::uint16_t rdb_version = 0;
};

// Which of the two servers of a move.
enum class End : std::uint8_t { kSource, kDestination };

// One page of a listing. An empty `next` means that it was the last.
struct Page {
  std::vector<std::string> keys;
  std::string next;
};

// One key with all that must survive the move.
struct Item {
  enum class Kind : std::uint8_t {
    kAbsent,     // to be removed at the destination
    kValue,      // `payload` is complete
    kBig,        // above Limits::big_value_bytes: to be copied in pieces
    kUnmovable,  // `reason` says why
  };
  std::string key;
  Kind kind = Kind::kAbsent;
  std::string payload;
  std::int64_t expires_at_ms = 0;  // wall time; 0 = never
  std::string age_option;          // "IDLETIME" or "FREQ"
  std::string age;                 // its value; empty: not known
  std::uint64_t bytes = 0;         // memory at the source
  std::string reason;
  // A big value of that name was written before: RESTORE over it would stop the server while it
  // frees it, UNLINK first does not.
  bool unlink_first = false;
};

// What could not be written, and the server's words.
struct WriteFailure {
  std::string key;
  std::string reason;
};

// What became of a write.
struct Wrote {
  std::vector<WriteFailure> failures = {};
  std::int64_t more_keys = 0;  // that the server has now; below 0: fewer
};

class Store {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;
  using KeyFilter = std::function<bool(std::string_view key)>;

  virtual ~Store() = default;

  // Cheap: asked while a range is held.
  virtual void identify(Done<StoreIdentity> done) = 0;
  virtual void facts(Done<StoreFacts> done) = 0;
  // Keys that `filter` takes, from cursor `from` (empty: the start) on. A key that is there during
  // the whole listing is in some page; one may be in several.
  virtual void list(const std::string& from, KeyFilter filter, Done<Page> done) = 0;
  // Items in the order of the keys. Two reads begun one after the other see the server in that
  // order, and so do the writes that follow from them (protocol rule 15). What a server says of
  // itself (backend/refusal.h) is the error of all, and no reason to leave a key behind.
  virtual void read(std::vector<std::string> keys, Done<std::vector<Item>> done) = 0;
  virtual void write(std::vector<Item> items, Done<Wrote> done) = 0;
  // The answer is how many were there.
  virtual void remove(std::vector<std::string> keys, Done<std::uint64_t> done) = 0;
  // How many replicas have everything that was written before.
  virtual void wait_replicas(std::uint32_t replicas, Done<std::uint32_t> done) = 0;
  // Writes the ownership marker iff there is none. Errors: kConflict, with the marker that is
  // there.
  virtual void mark(const std::string& value, Done<void> done) = 0;
  // Commands sent through this store that are not finished (protocol rule 6).
  virtual std::size_t unfinished() const = 0;
};

}  // namespace cleave::backend
