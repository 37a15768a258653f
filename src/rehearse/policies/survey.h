// Survey: the pool at one tick as the baseline policies see it. Moves in flight and moves planned
// at this tick count as done, as they do for cleave's planner, so that no baseline loses by a
// mistake that its authors have long corrected.
//
// Pure. Threads: one owner. Cost: O(entries + samples + base points) to build.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balance/input/input.h"
#include "base/wide.h"
#include "rehearse/policies/policy.h"

namespace cleave::rehearse {

// One node of the document.
struct SurveyNode {
  NodeId id = {};
  std::uint64_t capacity = 0;
  std::uint64_t load = 0;  // 10 s mean
  std::uint64_t fair = 0;  // its capacity's share of all load; 0 for a node that leaves
  std::uint64_t keys = 0;
  std::uint64_t bytes_per_key = 0;
  Wide width = 0;        // tokens that the keys lie on
  bool usable = false;   // stays in the pool, is healthy and ready
  bool leaving = false;  // is to be emptied
  bool busy = false;     // takes part in a move
};

// One entry of the view.
struct SurveyRange {
  ring::TokenRange range = {};
  NodeId owner = {};
  heat::Load load = {};
  std::uint64_t requests = 0;  // a second
  std::span<const heat::TokenLoad> tokens = {};
  const ring::Cut* cut = nullptr;  // nullptr: as the base has it
  bool in_flight = false;          // or planned: not to be touched
};

// Neighbours of one owner that could be one range: for the merge rules.
struct Neighbours {
  ring::TokenRange range = {};  // to be named in Plan::merges
  std::uint64_t load = 0;       // of both together
  std::uint64_t peak = 0;       // of the last ten minutes, likewise
  std::uint64_t bytes = 0;
  UnixMillis cut_at = {};  // the younger of them
};

class Survey {
 public:
  // Requires: the picture is of the view; both outlive the survey.
  explicit Survey(const balance::Input& input);

  const std::vector<SurveyNode>& nodes() const { return nodes_; }  // sorted by id
  const std::vector<SurveyRange>& ranges() const { return ranges_; }
  const SurveyNode& node(NodeId id) const { return nodes_[index_of(id)]; }
  std::uint64_t total_load() const { return total_load_; }
  UnixMillis now() const { return now_; }

  // Of the nodes that stay: their mean load, whatever their capacities; 0 without such nodes.
  std::uint64_t mean() const;

  // Nodes that may give or take now, coldest first by load / fair load.
  std::vector<NodeId> free_nodes() const;

  // The node's ranges that may be touched, hottest first. Indexes of `ranges`.
  std::vector<std::size_t> ranges_of(NodeId node) const;

  // Bytes and keys of a range by its width; tokens are hashes, so keys lie evenly.
  std::uint64_t keys_in(const ring::TokenRange& range, NodeId owner) const;
  std::uint64_t load_in(const ring::TokenRange& range) const;  // of one entry's tokens

  // Neighbouring cuts, or cuts that the base would give to their owner anyway.
  std::vector<Neighbours> neighbours() const;

  // A move of parts of ranges of the source, done here and to be put in a decision.
  balance::PlannedMove move(NodeId source, NodeId destination, std::vector<ring::TokenRange> parts,
                            std::string reason);

  // Moves that empty the nodes that leave: from each, to the coldest until that has its share.
  std::vector<balance::PlannedMove> evacuate();

 private:
  void add_nodes(const balance::Input& input);
  void add_ranges(const balance::Input& input);
  void add_neighbours(std::size_t at, std::vector<Neighbours>& result) const;
  bool agrees(const SurveyRange& range) const;
  std::size_t index_of(NodeId id) const;
  SurveyNode& node_at(NodeId id) { return nodes_[index_of(id)]; }

  ring::RingSnapshot view_;
  std::vector<SurveyNode> nodes_;
  std::vector<SurveyRange> ranges_;
  std::uint64_t total_load_ = 0;
  UnixMillis now_;
};

// How unequal two halves may be, |l - r| / (l + r) in per cent, to be called halves: the rule of
// CockroachDB and TiKV.
inline constexpr std::uint64_t kHalvesPerCent = 25;

// The last token of the left half of the load; nullopt when one token has so much that the parts
// would differ by more than `unequal_per_cent` of the whole. Requires: tokens sorted, those of the
// range.
std::optional<Token> half_point(const SurveyRange& range, std::uint64_t unequal_per_cent);

// A boundary after `last`, which moves nothing. Requires: range.first <= last < range.last.
ring::Cut boundary_after(const SurveyRange& range, Token last, std::string reason, UnixMillis now);

}  // namespace cleave::rehearse
