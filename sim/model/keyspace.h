// Keyspace: the keys of a model server, their expiry, and a journal of what a crash may lose.
//
// Every change goes through `edit`, `put`, `erase` or `clear`, which remember what was there
// before;
// `lose` takes changes back, newest first, as a server does that had not written them to disk or to
// its replica.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sim/model/value.h"

namespace cleave::sim {

inline constexpr std::int64_t kNever = -1;

// A key's value and life.
struct Entry {
  Value value;
  std::int64_t expires_ms = kNever;  // wall time
  std::int64_t used_ms = 0;          // last access, for OBJECT IDLETIME; 0: now
  std::uint8_t frequency = 5;        // OBJECT FREQ
};

// One page of SCAN.
struct ScanPage {
  std::uint64_t next = 0;  // 0: the end
  std::vector<std::string> keys;
};

class Keyspace {
 public:
  explicit Keyspace(std::uint64_t seed) : seed_(seed) {}

  // Set before each command; expiry is judged by it.
  void set_now(std::int64_t now_ms) { now_ms_ = now_ms; }
  std::int64_t now_ms() const { return now_ms_; }

  // nullptr: absent or expired (then it is removed). Counts as an access.
  const Entry* find(std::string_view key);
  // The same without counting as an access.
  const Entry* peek(std::string_view key);
  // To be changed in place.
  Entry* edit(std::string_view key);
  void put(std::string_view key, Entry entry);
  // False: it was not there.
  bool erase(std::string_view key);
  void clear();
  // Expired ones included, as DBSIZE counts them.
  std::size_t size() const { return entries_.size(); }

  // At least the guarantee of Redis: a key that is there all the time is returned. The order is
  // that of a hash. Cost: O(count).
  ScanPage scan(std::uint64_t cursor, std::size_t count);

  // Changes so far are safe.
  void sync() { journal_.clear(); }
  std::size_t unsynced() const { return journal_.size(); }
  // Takes back the newest `changes` of the unsynced ones. Returns the keys they were about.
  std::set<std::string> lose(std::size_t changes);

  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  struct Change {
    std::string key;
    std::optional<Entry> before;
  };
  void remember(std::string_view key);
  std::uint64_t place(std::string_view key) const;
  void remove(std::string_view key);

  std::uint64_t seed_;
  std::int64_t now_ms_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::pair<std::uint64_t, std::string>> order_;  // for SCAN
  std::vector<Change> journal_;
};

}  // namespace cleave::sim
