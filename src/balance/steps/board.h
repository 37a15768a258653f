// Board: the planner's working copy of the pool, on which planned moves are carried out as they
// are planned, so that each next one sees the ones before as done. Moves in flight count as done
// from the start (what is missing there is the named cause of thrash in pd issue 11133).
//
// For the files of this folder. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "balance/input/input.h"
#include "balance/input/window.h"
#include "balance/plan/plan.h"
#include "ring/token_range.h"

namespace cleave::balance {

// One node, moves in flight and planned done.
struct BoardNode {
  NodeId id = {};
  std::string name = {};
  bool draining = false;
  bool reachable = true;       // healthy, and facts are known
  std::string no_source = {};  // why it must not give; "" = it may
  std::string no_target = {};  // why it must not take
  std::size_t members = 1;
  std::size_t racks = 1;       // failure domains of its members
  std::uint64_t capacity = 0;  // 0 only for a draining node
  std::uint64_t load = 0;      // 10 s mean
  std::uint64_t fair = 0;      // its share of all load
  std::uint64_t keys = 0;      // as counted, moves in flight not done
  std::uint64_t bytes_per_key = 0;
  std::uint64_t memory = 0;
  std::uint64_t memory_max = 0;  // 0 = no limit
  Wide width_now = 0;            // tokens owned, moves in flight not done
  Wide width = 0;                // tokens owned
  Wide fair_width = 0;           // its share of all tokens
  std::span<const KeySample> key_sample = {};
  UnixMillis sample_due = {};     // as NodeFacts::sample_due
  std::uint16_t rdb_version = 0;  // likewise
  std::uint32_t moves_out = 0;    // in flight and planned
  std::uint32_t moves_in = 0;

  std::uint32_t level() const { return level_ppm(load, fair); }
};

// A range that a node owns and that no move holds: what it could give.
struct BoardRange {
  ring::TokenRange range;
  std::uint64_t load = 0;       // 10 s mean
  std::size_t token_begin = 0;  // its tokens in the picture
  std::size_t token_end = 0;
  bool in_cut = false;     // else the base alone gives it to its owner
  bool fresh_cut = false;  // a piece was taken out beside it just now: not to be cut again yet
};

class Board {
 public:
  // Requires: the picture is of the view, as input_check.h demands.
  explicit Board(const Input& input);

  const Input& input() const { return input_; }
  const Constants& constants() const { return input_.constants; }
  const std::vector<BoardNode>& nodes() const { return nodes_; }
  const BoardNode& node(NodeId id) const { return nodes_[at(id)]; }
  const std::vector<BoardRange>& ranges_of(NodeId id) const { return ranges_[at(id)]; }
  std::uint64_t total_load() const { return total_load_; }
  std::uint64_t total_keys() const { return total_keys_; }
  std::uint32_t unhealthy() const;

  // Whether a move in flight or planned holds a token of the range. Cost: O(log pieces).
  bool moving(const ring::TokenRange& range) const;

  Price price_of(const BoardNode& node) const;

  // Of a part of one of the board's ranges.
  std::uint64_t load_in(const BoardRange& range, const ring::TokenRange& part) const;
  std::span<const heat::TokenLoad> tokens_in(const BoardRange& range,
                                             const ring::TokenRange& part) const;

  // Carries out a planned move on the board. Cost: O(ranges of the source).
  void apply(const PlannedMove& move);

  // Highest level of an active node.
  std::uint32_t peak_ppm() const;

 private:
  void add_nodes();
  void add_ranges();
  void add_flights();
  void share_out();
  void divide(const PlannedMove& move);
  BoardRange part_of(const BoardRange& range, const ring::TokenRange& part) const;
  std::size_t at(NodeId id) const;

  const Stock* stock_of(const BoardNode& node) const;

  const Input& input_;
  mutable std::map<NodeId, Stock> stocks_;       // made when first asked for: most never are
  std::vector<BoardNode> nodes_;                 // sorted by id
  std::vector<std::uint32_t> places_;            // by id, where ids are dense: in `nodes_`
  std::vector<std::vector<BoardRange>> ranges_;  // of each node, in token order
  std::map<Token, Token> moving_;                // first to last token of what moves hold
  std::vector<std::uint64_t> loads_before_;      // prefix sums of the picture's tokens
  std::uint64_t total_load_ = 0;
  std::uint64_t total_keys_ = 0;
};

// part / whole of an amount without overflow. Requires: whole > 0; the result fits.
std::uint64_t scaled(std::uint64_t amount, Wide part, Wide whole);

}  // namespace cleave::balance
