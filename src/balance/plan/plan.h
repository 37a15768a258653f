// What the planner answers: moves, merges, and for everything hot that it does not help, why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balance/input/trigger.h"
#include "balance/plan/reasons.h"
#include "base/clock.h"
#include "base/ids.h"
#include "ring/token_range.h"

namespace cleave::balance {

// Why a move is made.
enum class Cause : std::uint8_t {
  kUrgent,    // the source is almost at its capacity
  kHot,       // far above the mean
  kSlow,      // a little above the mean, for minutes
  kMemory,    // its memory fills up
  kDrain,     // it leaves
  kJoin,      // the destination has less than its share of the ring
  kFlatten,   // every cut is to be taken back
  kGather,    // crumbs that load left behind go home
  kPresplit,  // load that is expected would make the source hot
};

// Whether a person ordered it: such moves are outside of the key budget (PastMove::ordered).
constexpr bool ordered(Cause cause) {
  return cause == Cause::kDrain || cause == Cause::kJoin || cause == Cause::kFlatten ||
         cause == Cause::kPresplit;
}

// Whether it may begin only in one of Orders::windows: what nobody ordered and what can wait.
constexpr bool waits_for_window(Cause cause) { return !ordered(cause) && cause != Cause::kUrgent; }

// A node that a decision passed over, and why.
struct Alternative {
  NodeId node = {};
  std::string why = {};  // for people: "it lacks memory"

  friend bool operator==(const Alternative&, const Alternative&) = default;
};

inline constexpr std::size_t kAlternativesMax = 4;  // of one decision

// All ranges belong to the source; together they are one move with one scan.
struct PlannedMove {
  ring::RangeSet ranges = {};
  NodeId source = {};
  NodeId destination = {};
  Cause cause = Cause::kHot;
  std::string reason = {};  // for people, with the numbers
  std::uint64_t load = 0;   // that changes place, nanoseconds a second
  std::uint64_t keys = 0;   // estimates
  std::uint64_t bytes = 0;
  std::uint64_t source_before = 0;
  std::uint64_t source_after = 0;
  std::uint64_t destination_before = 0;
  std::uint64_t destination_after = 0;
  std::vector<Alternative> alternatives = {};  // destinations passed over, at most kAlternativesMax
  UnixMillis pin_until = {};  // its cuts are not merged before; 0 = not pinned (ring::MoveRequest)

  friend bool operator==(const PlannedMove&, const PlannedMove&) = default;
};

// Something hot or ordered that is not helped by this plan.
struct Verdict {
  Why why = Why::kTooSmall;
  NodeId node = {};
  std::optional<Token> token = {};             // kUnsplittable: which, the heaviest
  std::string key = {};                        // and its name where it is known
  std::string text = {};                       // for people, with the numbers
  UnixMillis until = {};                       // when it may change; 0 = with the load
  std::vector<Alternative> alternatives = {};  // destinations passed over, at most kAlternativesMax

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// A token heavy enough to matter alone. Its keys can never be cut apart.
struct HeavyToken {
  Token token = {};
  std::string key = {};  // where it is known
  NodeId node = {};
  std::uint64_t load = 0;
  std::uint32_t ppm = 0;  // of its node's fair load; from 1'000'000 on no cut can help that node

  friend bool operator==(const HeavyToken&, const HeavyToken&) = default;
};

struct Plan {
  std::vector<PlannedMove> moves = {};
  std::vector<ring::TokenRange> merges = {};  // for ring::merge_cuts
  std::vector<Verdict> verdicts = {};
  std::vector<HeavyToken> heavy = {};  // heaviest first, at most 32
  std::string advice = {};             // for people; "" = none
  std::uint64_t advice_nodes = 0;      // how many of the mean capacity to add; 0 = none
  Trigger trigger = {};                // for the next plan
  // Highest level of a node, in millionths of its fair load (peak over mean): now; with moves in
  // flight and planned ones done; and the least that any placement could reach.
  std::uint32_t peak_ppm = 0;
  std::uint32_t predicted_ppm = 0;
  std::uint32_t bound_ppm = 0;

  friend bool operator==(const Plan&, const Plan&) = default;
};

std::string_view to_string(Cause cause);

}  // namespace cleave::balance
