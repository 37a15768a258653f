// StrayCount: what a walk over a server's keys met that the ring does not look for there
// (ring/view/stray.h), with examples; and how exact a share of strays is that was seen on a sample.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "ring/view/view.h"

namespace cleave::control {

// A key and the node where the ring looks for it.
struct Stray {
  std::string key;
  NodeId owner;

  friend bool operator==(const Stray&, const Stray&) = default;
};

// More of a node's keys than this are not where the ring looks: the ring does not fit the data.
inline constexpr std::uint32_t kMisplacedMaxPpm = 1'000;

struct StrayCount {
  static constexpr std::size_t kExamples = 8;

  std::uint64_t keys = 0;  // that were looked at
  std::uint64_t strays = 0;
  bool whole = false;  // all keys of the node were looked at
  std::vector<Stray> examples;

  std::uint32_t share_ppm() const;
  // Two standard errors of the share where only a sample was looked at (SCAN's order has nothing to
  // do with tokens), for no stray at all three keys of those looked at; 0 where all were.
  std::uint32_t error_ppm() const;
  // Of so many keys that the node has.
  std::uint64_t estimate(std::uint64_t all_keys) const;
};

// Counts one walk. A key that SCAN shows twice counts once, as long as not too many are strays.
class StrayCounter {
 public:
  static constexpr std::size_t kRemembered = 65'536;  // strays, 8 bytes each

  StrayCounter() = default;
  StrayCounter(NodeId node, std::size_t listed_max) : node_(node), listed_max_(listed_max) {}

  // A key that was there between the two views: it is a stray only by both, because a move that
  // began or ended meanwhile has put it there, or taken it away since.
  void add(std::string_view key, const ring::RingView& before, const ring::RingView& now);
  void end() { count_.whole = true; }
  const StrayCount& count() const { return count_; }

 private:
  NodeId node_;
  std::size_t listed_max_ = StrayCount::kExamples;
  StrayCount count_;
  std::unordered_set<std::uint64_t> met_;  // hashes of strays' names; never iterated
};

// "12 of 500 keys (2.4 %)", "120 of the first 20,000 keys looked at (0.6 % +- 0.1 %)".
std::string describe(const StrayCount& count);
// A key between quotes, as base/shown.h shows it, at most 64 characters.
std::string quoted_key(std::string_view key);
// " e.g. "a", "b""; empty where there are none.
std::string examples_of(const StrayCount& count, std::size_t most);

}  // namespace cleave::control
