// The demonstration `auto-split`: thirty keys, all on one node, and a limit of five keys a node.
// What the naive ring does, and what cleave does with the same ring, hashes and keys.
//
// Pure: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ring/token_range.h"

namespace cleave::rehearse {

// Three nodes at the points 100, 200 and 300 of a ring of 31-bit hashes (naive_ring.h).
struct AutoSplitInput {
  std::vector<std::string> keys;
  std::uint64_t keys_max = 5;  // on one node; at least 1
};

// user-0 ... user-29, limit 5.
AutoSplitInput auto_split_input();

// How many keys a node holds.
struct NodeKeys {
  std::string node;
  std::uint64_t keys = 0;

  friend bool operator==(const NodeKeys&, const NodeKeys&) = default;
};

// What the naive program ends with.
struct NaiveAutoSplit {
  std::vector<NodeKeys> nodes;
  std::uint64_t splits = 0;
  std::string why;  // it stopped
};
// Requires: at most the node of the smallest point is above the limit; so it is with all keys whose
// hash is above 300, and people have no other.
NaiveAutoSplit naive_auto_split(const AutoSplitInput& input);

// The node that the naive ring gives a key to.
std::string naive_auto_split_owner(const std::string& key);

// One cut piece that changed hands.
struct PieceMoved {
  ring::TokenRange range;
  std::string source;
  std::string destination;
  std::uint64_t keys = 0;
};

// What cleave did with one set of nodes.
struct SplitStage {
  std::vector<NodeKeys> before;
  std::vector<NodeKeys> after;
  std::vector<PieceMoved> pieces;
  std::uint64_t keys_hashed = 0;  // again, to find the keys of the pieces
  std::uint64_t keys_moved = 0;
  std::uint64_t keys_moved_least = 0;  // above what a node may keep, before
  std::uint64_t cuts_merged = 0;       // crumbs: cuts that were joined with a neighbour
  std::uint64_t keys_max_reached = 0;  // most keys on one node, after
  bool limit_met = false;
  std::uint64_t nodes_needed = 0;  // for the limit
  std::string why;                 // the limit is not met; "" when it is
};

// One run: first with three nodes, then, from where that ended, with six.
struct CleaveAutoSplit {
  SplitStage three_nodes;
  SplitStage six_nodes;  // three more join
  std::uint64_t reads_missed = 0;
};
CleaveAutoSplit cleave_auto_split(const AutoSplitInput& input);

}  // namespace cleave::rehearse
