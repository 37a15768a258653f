// What `cleave ring` takes from the command line: rings by their schemes, changes of their nodes,
// keys, and files for pictures.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/config/pool_file.h"
#include "app/config/scheme_arguments.h"
#include "base/result.h"
#include "ring/placed/placement_diff.h"
#include "ring/schemes/placement.h"

namespace cleave::app {

// A ring in words, or the pool of a file: then the rest does not matter.
struct RingArguments {
  std::string scheme = "vnode";
  std::vector<std::string> nodes = {};    // "NAME" or "NAME=WEIGHT"
  std::vector<std::string> options = {};  // "name=value"
  PoolFile config = {};                   // no path: none

  bool empty() const { return nodes.empty() && config.path.empty(); }
};

// The ring itself, with what it was placed of.
struct PlacedRing {
  ring::SchemeSpec spec;
  std::vector<ring::PlacedNode> nodes;
  std::shared_ptr<const ring::Placement> placement;

  ring::PlacementSide side() const { return {*placement, nodes}; }
};

// Errors: those of `place`.
Result<PlacedRing> place_nodes(ring::SchemeSpec spec, std::vector<ring::PlacedNode> nodes);

// Errors: those of `read_pool_file`; kInvalid as `parse_placed_node`, `parse_scheme` and `place`,
// and for neither a node nor a file.
Result<PlacedRing> place_ring(const RingArguments& arguments);

// How a list of nodes changes.
struct NodeEdits {
  std::vector<std::string> joins = {};    // "NAME" or "NAME=WEIGHT"
  std::vector<std::string> leaves = {};   // "NAME"
  std::vector<std::string> weights = {};  // "NAME=WEIGHT"

  bool empty() const { return joins.empty() && leaves.empty() && weights.empty(); }
};

// Leaves, then weights, then joins, at the end of the list. Errors: kInvalid for a bad text, for a
// node to leave or to weigh that is not there.
Result<std::vector<ring::PlacedNode>> edited_nodes(std::vector<ring::PlacedNode> nodes,
                                                   const NodeEdits& edits);

inline constexpr std::uint64_t kSampleKeysMax = 10'000'000;

// Keys of a file, or generated ones.
struct KeyArguments {
  std::string file = {};
  std::uint64_t sample = 100'000;  // 1 ... kSampleKeysMax, when there is no file
  std::uint64_t seed = 1;
};

// Errors: kNotFound for the file; kInvalid when it is empty.
Result<std::vector<std::string>> keys_of(const KeyArguments& arguments);

// "twemproxy-ketama, hash=md5".
std::string scheme_text(const ring::SchemeSpec& spec);

}  // namespace cleave::app
