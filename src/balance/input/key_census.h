// KeyCensus: what is known of one node's keys from walking over them page by page.
//
//   walk     SCAN goes over a server's keys in an order that has nothing to do with their tokens:
//            what it has met so far is a random sample without repetition, in the end everything
//   kept     at most kKept keys. When more were met, the small ones thin out: a key is kept with
//            probability min(1, size / threshold), where a key's size is its bytes and kKeyBytes,
//            and then stands for 1 / probability keys. So a few keys that hold most of the bytes
//            are known one by one, however many small ones lie around them
//   forget   what was not met again for kForget has moved away or is gone
//
// A sum of bytes over any tokens is estimated without bias, and almost as well as kKept samples can
// (threshold sampling: N. Duffield, C. Lund, M. Thorup, "Learn more, sample less", IEEE Trans.
// Inf. Theory 51(5), 2005). The draw is a hash of the key's name: a key met twice is kept once.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/input/constants.h"
#include "balance/input/input.h"
#include "base/clock.h"
#include "ring/view/view.h"

namespace cleave::balance {

// A key that was met.
struct MetKey {
  std::uint64_t name_hash = 0;  // of its whole name
  Token token = {};
  std::uint64_t bytes = 0;  // in memory
};

class KeyCensus {
 public:
  static constexpr std::size_t kKept = 8'192;
  static constexpr std::uint64_t kKeyBytes = 256;
  static constexpr seconds kForget{300};
  // Met so many, or kEnoughPpm of all: enough to move bytes by. The error of a tenth of the node is
  // then some 3 % of it, and smaller where sizes are less uneven than that.
  static constexpr std::uint64_t kEnoughKeys = 8'192;
  static constexpr std::uint64_t kEnoughPpm = 900'000;
  // More than this betters no move.
  static constexpr std::uint64_t kMostKeys = 32'768;

  // A page of the walk. Cost: O(kept + page log page).
  void add(std::span<const MetKey> page, Instant now);

  // What is kept of the keys that the node owns by this view, sorted by token. Cost: O(kept log)
  // for each page and view; else nothing, as it is asked for at every tick.
  const std::vector<KeySample>& sample(const ring::RingView& view, NodeId node);

 private:
  struct Kept {
    MetKey key;
    Instant met{0};
  };

  std::uint32_t weight_ppm(const MetKey& key) const;
  bool above_threshold(const MetKey& key) const;
  void thin_out();

  std::vector<Kept> kept_;             // sorted by name_hash, each once
  std::uint64_t threshold_bytes_ = 0;  // 0 = all are kept
  std::vector<KeySample> sample_;
  Epoch sample_of_;  // out of date when this is 0
};

// How many of a node's keys must still be met until these are, or KeyCensus::kEnoughPpm of all.
std::uint64_t keys_to_meet(std::span<const KeySample> sample, std::uint64_t keys,
                           std::uint64_t wanted = KeyCensus::kEnoughKeys);

// How fast keys are looked at: about 3 us of the server's time for each.
struct WalkPace {
  static constexpr std::size_t kPageKeys = 256;
  static constexpr seconds kPageEvery{10};  // of a node at rest
  // Each second, of a node that may have to give bytes away and whose sample does not say enough
  // yet: 0.3 % of its server's time, for some ten seconds.
  static constexpr std::size_t kHurryPages = 4;
};

// Which nodes' walk is to hurry: those that use more of their memory than the others on average, so
// much that they may have to give some away, and of which more keys would tell more. Sets
// NodeFacts::sample_due of those that are to wait for it. Cost: O(nodes + samples).
std::vector<NodeId> hurried_walks(std::vector<NodeFacts>& nodes, const Constants& constants,
                                  UnixMillis now);

}  // namespace cleave::balance
