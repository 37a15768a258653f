// Calm: what the history forbids, so that the balancer neither thrashes nor repeats what failed.
//
// For the files of this folder. Pure. Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "balance/input/input.h"
#include "base/clock.h"
#include "base/wide.h"
#include "ring/token_range.h"

namespace cleave::balance {

// Times: 0 = no wait. A move that ended later than now (a clock was put back) counts as ended now;
// one that ended in another age (constants.back_max after now) as never made.
class Calm {
 public:
  // Cost: O(moves x log), and for each node O(its moves squared).
  explicit Calm(const Input& input);
  Calm(const Calm&) = delete;
  Calm& operator=(const Calm&) = delete;

  // Until when the ranges that were moved to the node just now stay there.
  const ring::RangeSet& dwelling() const { return dwelling_; }
  // When the first of them that meets one of `ranges` may go again; 0 = none of them does.
  UnixMillis dwelling_until(const ring::RangeSet& ranges) const;

  // Ranges beside a piece that was taken just now: may move whole, must not be cut again.
  bool cut_just_now(const ring::TokenRange& range) const;

  // Ranges that left the node not long enough ago to go back. The time doubles with each return.
  const ring::RangeSet& left(NodeId node) const;

  // How often tokens of the ranges have left the node, as far as the history goes back.
  std::uint32_t flaps(NodeId node, const ring::RangeSet& ranges) const;

  // How many tokens load moved away from the node, as far as the history goes back: it does not own
  // them, but nobody has taken its share of the ring.
  Wide given(NodeId node) const;

  // Until when the source rests, because its last moves did not bring what they promised.
  UnixMillis rests_until(NodeId source) const;

  // Until when nothing is tried from one to the other, because the last tries were aborted.
  UnixMillis pair_rests_until(NodeId source, NodeId destination) const;

  // Until so long after its last committed move the node has given.
  UnixMillis gave_until(NodeId source, milliseconds time) const;

  // Moved within the last hour by the balancer's own will.
  std::uint64_t keys_last_hour() const { return keys_last_hour_; }

  // What is left of an hour's budget of so much of all keys.
  std::uint64_t keys_left(std::uint64_t keys_total, std::uint32_t hour_ppm) const;

  // When, if nothing else moves, so many keys of that budget are left; 0 = they are now, or never.
  UnixMillis keys_left_at(std::uint64_t keys_wanted, std::uint64_t keys_total,
                          std::uint32_t hour_ppm) const;

 private:
  // A move that is over, with its ranges in canonical form.
  struct Past {
    const PastMove* move;
    ring::RangeSet ranges;
    UnixMillis ended;
  };

  void take_over(const Input& input);
  void find_dwelling();
  void find_cut();
  void find_left();
  std::uint64_t hour_of(std::uint64_t keys_total, std::uint32_t hour_ppm) const;
  bool within(const Past& past, milliseconds time) const;
  std::span<const Past* const> moves_of(NodeId source) const;

  const Input& input_;
  std::vector<Past> moves_;                               // newest first
  std::map<NodeId, std::vector<const Past*>> by_source_;  // likewise
  std::map<NodeId, ring::RangeSet> left_;
  ring::RangeSet nothing_;
  ring::RangeSet dwelling_;
  ring::RangeSet cut_;  // with one token more on either side
  std::uint64_t keys_last_hour_ = 0;
};

// The time after `tries` tries: `first`, doubled with each one after the first, at most `most`.
milliseconds backed_off(milliseconds first, std::uint64_t tries, milliseconds most);

}  // namespace cleave::balance
