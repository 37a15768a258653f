// Transfers: how long the moves under way take.
//
//   scan    all keys of the source, 1 us each of its main thread, for at most half of its time
//   copy    the bytes, at a rate that all moves under way share
//   commit  a fixed time: fence, last keys, two writes of the document
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance/planning_loop.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/limits.h"

namespace cleave::rehearse {

struct Transfer {
  MoveId id = {};
  balance::Promise promise = {};
  std::size_t recorded = 0;  // of Record::moves
  std::uint64_t keys = 0;    // that it really takes along
  nanoseconds scan_left{0};  // of the source's time
  std::uint64_t bytes_left = 0;
  nanoseconds commit_left{0};
};

class Transfers {
 public:
  // Of the source's time the scan takes, while it lasts, what is idle, in these bounds.
  static constexpr std::uint32_t kScanMinPpm = 50'000;
  static constexpr std::uint32_t kScanMaxPpm = 500'000;
  static constexpr nanoseconds kScanOfKey{1'000};
  static constexpr nanoseconds kCommit = milliseconds{200};
  static constexpr std::uint64_t kBytesPerSecond = Limits{}.copy_bytes_per_second;

  // `source_keys` are scanned to find those that move.
  void begin(Transfer transfer, std::uint64_t source_keys, std::uint64_t bytes);

  // Time passes. `use_ppm` of a node: how much of its capacity requests take. Answers the moves
  // that are done, in the order in which they began.
  std::vector<Transfer> pass(nanoseconds time, const std::vector<std::uint32_t>& use_ppm);

  // Moves that the node takes part in end now, undone.
  std::vector<Transfer> abort(NodeId node);

  const std::vector<Transfer>& under_way() const { return under_way_; }
  std::uint32_t out_of(NodeId node) const;
  std::uint32_t into(NodeId node) const;

  // How much of the source's time the scan will take of the next `time`.
  static nanoseconds scan_time(const Transfer& transfer, nanoseconds time,
                               const std::vector<std::uint32_t>& use_ppm);

 private:
  std::vector<Transfer> under_way_;
};

}  // namespace cleave::rehearse
