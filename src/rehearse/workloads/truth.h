// Truth: what the keys of a scene really carry and weigh, which no planner is told.
//
// Loads are those of the servers: reads of the hottest keys that the routers cache cost none.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehearse/workloads/scene.h"
#include "ring/token_range.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

// What some tokens hold, and the load on it in nanoseconds of server time a second.
struct Amount {
  std::uint64_t load = 0;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;

  Amount& operator+=(const Amount& more) {
    load += more.load;
    keys += more.keys;
    bytes += more.bytes;
    return *this;
  }
  friend bool operator==(const Amount&, const Amount&) = default;
};

// Keys that lie in the pool and are never asked for: a server's scan meets them too. Tokens are
// hashes, so they lie evenly and need not be simulated one by one.
struct ColdKeys {
  std::uint64_t count = 0;
  std::uint64_t bytes_each = 0;
};

class Truth {
 public:
  struct Options {
    std::size_t cached_keys = 0;  // the so many hottest keys' reads are answered by the routers
    ColdKeys cold = {};
  };
  explicit Truth(Options options) : options_(options) {}

  // Cost: O(keys).
  void set(const Scene& scene);

  // How much of the servers' time each key costs; 0 for what nobody asks.
  const std::vector<std::uint64_t>& key_loads() const { return loads_; }
  // Whether its reads are answered by the routers.
  bool cached(std::size_t key) const { return cached_[key]; }
  std::uint64_t total_load() const { return total_.load; }

  // Cost: O(ranges x log keys).
  Amount in(const ring::TokenRange& range) const;
  Amount in(std::span<const ring::TokenRange> ranges) const;

  // Tokens that carry load, in order: keys of one token are one atom.
  struct Atom {
    Token token;
    std::uint64_t load = 0;
    std::uint64_t keys = 0;  // that exist
  };
  const std::vector<Atom>& atoms() const { return atoms_; }
  // The same of bytes: tokens that hold keys, each with its bytes as its load.
  std::vector<Atom> byte_atoms() const;

 private:
  void choose_cached(const Scene& scene);
  void sum(const Scene& scene);

  Options options_;
  std::vector<Token> tokens_;
  std::vector<bool> cached_;
  std::vector<std::uint64_t> loads_;
  std::vector<Amount> before_;  // prefix sums, one more than keys
  std::vector<Atom> atoms_;
  Amount total_;
};

}  // namespace cleave::rehearse
