// CostBook: what each command costs the servers of a pool, by their own counters.
//
//   INFO commandstats, cpu of each node --note--> what happened since the last --+
//                                                (all nodes)  half of the past -+--settle--> prices
//
// Half of what was counted before stays at each settling, so that a price follows the servers
// within a few intervals and one slow call does not carry it away. A command that is called too
// seldom keeps its last price.
//
// Pure. Threads: one owner.
#pragma once

#include <map>
#include <string_view>

#include "base/ids.h"
#include "heat/cost.h"

namespace cleave::control {

class CostBook {
 public:
  // Calls of one command, in the whole pool, that make a mean worth believing.
  static constexpr std::uint64_t kCallsMin = 20;

  // Calls of any commands that make a mean of what they cost outside of themselves.
  static constexpr std::uint64_t kRequestsMin = 5'000;

  // A node's counters as of now. The first of a node only begin its counting: they say nothing of
  // today. Unreadable ones are passed over. `cpu_us`: 0 = not told.
  void note(NodeId node, std::string_view command_stats, std::uint64_t cpu_us);
  // Ends the interval: prices follow what was noted since the last settling.
  void settle();
  // The node has left.
  void forget(NodeId node) { seen_.erase(node); }

  // Empty until a first interval is over.
  const heat::CommandPrices& prices() const { return prices_; }

 private:
  struct Counted {
    heat::CommandStats stats;
    std::uint64_t cpu_us = 0;
  };

  std::map<NodeId, Counted> seen_;
  Counted recent_;  // what is older counts half at each settling
  Counted interval_;
  bool untold_ = false;  // some node did not tell its time
  heat::CommandPrices prices_;
};

}  // namespace cleave::control
