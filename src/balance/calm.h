// Calm: what the history forbids, so that the balancer neither thrashes nor repeats what failed.
//
// For the files of this folder. Pure. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "balance/input.h"
#include "base/clock.h"
#include "ring/token_range.h"

namespace cleave::balance {

// 0 = no wait.
class Calm {
 public:
  explicit Calm(const Input& input);

  // Until when the ranges that were moved to the node just now stay there.
  const ring::RangeSet& dwelling() const { return dwelling_; }
  UnixMillis dwelling_until() const { return dwelling_until_; }

  // Ranges beside a piece that was taken just now: may move whole, must not be cut again.
  bool cut_just_now(const ring::TokenRange& range) const;

  // Ranges that left the node not long enough ago to go back. The time doubles with each return.
  ring::RangeSet left(NodeId node) const;

  // Ranges that load moved away from the node, as far as the history goes back: it does not own
  // them, but nobody has taken its share of the ring.
  ring::RangeSet given(NodeId node) const;

  // Until when the source rests, because its last moves did not bring what they promised.
  UnixMillis rests_until(NodeId source) const;

  // Until when nothing is tried from one to the other, because the last tries were aborted.
  UnixMillis pair_rests_until(NodeId source, NodeId destination) const;

  // Moved within the last hour by the balancer's own will.
  std::uint64_t keys_last_hour() const;

  // What is left of an hour's budget of so much of all keys.
  std::uint64_t keys_left(std::uint64_t keys_total, std::uint32_t hour_ppm) const;

 private:
  bool within(const PastMove& move, milliseconds time) const;

  const Input& input_;
  std::vector<PastMove> moves_;  // newest first
  ring::RangeSet dwelling_;
  UnixMillis dwelling_until_;
};

// The time after `tries` tries: `first`, doubled with each one after the first, at most `most`.
milliseconds backed_off(milliseconds first, std::uint64_t tries, milliseconds most);

}  // namespace cleave::balance
