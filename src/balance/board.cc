#include "balance/board.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

std::size_t racks_of(const ring::Node& node) {
  std::set<std::string> named;
  std::size_t own = 0;  // a member without a rack is a failure domain of its own
  for (const ring::Member& member : node.members) {
    if (member.rack.empty()) {
      ++own;
    } else {
      named.insert(member.rack);
    }
  }
  return named.size() + own;
}

// Why no move may touch the node; "" = it may.
std::string veto_of(const NodeFacts* facts) {
  if (facts == nullptr) return "nothing is known of it";
  if (!facts->healthy) return "it is not healthy";
  if (facts->unattributed_writes) {
    return "somebody writes to it past the routers, and a move would lose such writes";
  }
  return facts->vetoes.empty() ? "" : *std::ranges::min_element(facts->vetoes);
}

ring::TokenRange both(const ring::TokenRange& left, const ring::TokenRange& right) {
  return {std::max(left.first, right.first), std::min(left.last, right.last)};
}

}  // namespace

std::uint64_t scaled(std::uint64_t amount, Wide part, Wide whole) {
  CHECK(whole > 0);
  // Widths need 65 bits: with 32 of them off both, the product fits and 2^-32 is lost.
  while (part >> 64U != 0 || whole >> 64U != 0) {
    part >>= 1U;
    whole >>= 1U;
  }
  return static_cast<std::uint64_t>(Wide{amount} * part / whole);
}

Board::Board(const Input& input) : input_(input) {
  CHECK(input.view != nullptr && input.picture.epoch == input.view->epoch());
  base_ = ring::vnode_base(input.view->document().nodes);
  loads_before_.push_back(0);
  for (const heat::TokenLoad& each : input.picture.tokens) {
    loads_before_.push_back(loads_before_.back() + each.load);
  }
  add_nodes();
  add_ranges();
  add_flights();
  share_out();
}

void Board::add_nodes() {
  for (const ring::Node& node : input_.view->document().nodes) {
    const auto facts = std::ranges::find(input_.nodes, node.id, &NodeFacts::id);
    const NodeFacts* known = facts == input_.nodes.end() ? nullptr : &*facts;
    BoardNode each{.id = node.id, .name = node.name};
    each.draining = node.state == ring::NodeState::kDraining;
    each.reachable = known != nullptr && known->healthy;
    each.no_source = veto_of(known);
    each.no_target = each.no_source;
    if (each.no_target.empty() && each.draining) each.no_target = "it is being drained";
    if (each.no_target.empty() && known->joining) each.no_target = "it is not ready yet";
    each.racks = racks_of(node);
    if (known != nullptr) {
      each.capacity = known->capacity;
      each.keys = known->keys;
      each.bytes_per_key = known->bytes_per_key;
      each.memory = known->memory_bytes;
      each.memory_max = known->memory_bytes_max;
    }
    if (each.capacity == 0) each.capacity = node.weight * kCore;
    if (each.draining) each.capacity = 0;
    total_keys_ += each.keys;
    nodes_.push_back(each);
  }
}

void Board::add_ranges() {
  const auto& moves = input_.view->document().moves;
  const auto& tokens = input_.picture.tokens;
  std::size_t at = 0;
  for (std::size_t index = 0; index < input_.picture.ranges.size(); ++index) {
    const heat::RangeLoad& seen = input_.picture.ranges[index];
    const ring::Entry& entry = input_.view->entries()[index];
    BoardRange range{.range = seen.range, .owner = seen.node, .load = seen.load.mean};
    range.token_begin = at;
    while (at < tokens.size() && tokens[at].token <= seen.range.last) ++at;
    range.token_end = at;
    node(seen.node).width_now += ring::width(seen.range);
    if (entry.move != ring::kNone) {
      range.in_flight = true;
      range.owner = moves[entry.move].destination;
    }
    BoardNode& owner = node(range.owner);
    owner.load += range.load;
    owner.width += ring::width(range.range);
    total_load_ += range.load;
    ranges_.push_back(range);
  }
}

void Board::add_flights() {
  for (const ring::Move& move : input_.view->document().moves) {
    ++node(move.source).moves_out;
    ++node(move.destination).moves_in;
  }
}

void Board::share_out() {
  Wide capacity = 0;
  Wide weights = 0;
  const auto& nodes = input_.view->document().nodes;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    capacity += nodes_[at].capacity;
    if (!nodes_[at].draining) weights += nodes[at].weight;
  }
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    BoardNode& each = nodes_[at];
    if (each.draining) continue;
    each.fair = scaled(total_load_, each.capacity, capacity);
    each.fair_width = ring::kAllTokens / weights * nodes[at].weight;
  }
}

BoardNode& Board::node(NodeId id) {
  const auto found = std::ranges::lower_bound(nodes_, id, {}, &BoardNode::id);
  CHECK(found != nodes_.end() && found->id == id);
  return *found;
}

std::uint32_t Board::unhealthy() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(nodes_, [](const BoardNode& each) { return !each.reachable; }));
}

Price Board::price_of(const BoardNode& node) const {
  return {.keys = node.keys,
          .width = std::max(node.width_now, Wide{1}),
          .bytes_per_key = std::max<std::uint64_t>(node.bytes_per_key, 1),
          .piece_bytes = constants().piece_bytes};
}

std::span<const heat::TokenLoad> Board::tokens_in(const ring::TokenRange& range) const {
  const auto& tokens = input_.picture.tokens;
  const auto begin = std::ranges::lower_bound(tokens, range.first, {}, &heat::TokenLoad::token);
  const auto end = std::ranges::upper_bound(tokens, range.last, {}, &heat::TokenLoad::token);
  return {begin, end};
}

std::uint64_t Board::load_in(const ring::TokenRange& range) const {
  std::uint64_t load = 0;
  auto at = std::ranges::lower_bound(ranges_, range.first, {},
                                     [](const BoardRange& each) { return each.range.last; });
  for (; at != ranges_.end() && at->range.first <= range.last; ++at) {
    const ring::TokenRange inside = both(range, at->range);
    if (inside == at->range) {
      load += at->load;
    } else if (at->token_begin < at->token_end) {
      const auto tokens = tokens_in(inside);
      if (tokens.empty()) continue;
      const auto begin = static_cast<std::size_t>(tokens.data() - input_.picture.tokens.data());
      load += loads_before_[begin + tokens.size()] - loads_before_[begin];
    } else {
      load += scaled(at->load, ring::width(inside), ring::width(at->range));
    }
  }
  return load;
}

void Board::apply(const PlannedMove& move) {
  divide(move);
  BoardNode& source = node(move.source);
  BoardNode& destination = node(move.destination);
  source.load -= std::min(source.load, move.load);
  destination.load += move.load;
  destination.memory += move.bytes;
  ++source.moves_out;
  ++destination.moves_in;
  for (const ring::TokenRange& range : move.ranges) {
    source.width -= std::min(source.width, ring::width(range));
    destination.width += ring::width(range);
  }
}

// Cuts the board's ranges where the move's begin and end; what lies inside changes its owner.
void Board::divide(const PlannedMove& move) {
  std::vector<BoardRange> next;
  next.reserve(ranges_.size() + 2 * move.ranges.size());
  auto piece = move.ranges.begin();
  for (const BoardRange& range : ranges_) {
    for (Token at = range.range.first;;) {
      while (piece != move.ranges.end() && piece->last < at) ++piece;
      ring::TokenRange part{at, range.range.last};
      const bool inside = piece != move.ranges.end() && piece->contains(at);
      if (inside) {
        part.last = std::min(part.last, piece->last);
      } else if (piece != move.ranges.end() && piece->first <= part.last) {
        part.last = Token{piece->first.value() - 1};
      }
      next.push_back(part == range.range ? range : part_of(range, part));
      if (inside) {
        next.back().in_flight = true;
        next.back().owner = move.destination;
      }
      if (part.last == range.range.last) break;
      at = Token{part.last.value() + 1};
    }
  }
  ranges_ = std::move(next);
}

// Requires: `part` lies within the range.
BoardRange Board::part_of(const BoardRange& range, const ring::TokenRange& part) const {
  BoardRange result = range;
  result.range = part;
  result.load = load_in(part);
  const auto tokens = tokens_in(part);
  if (!tokens.empty()) {
    result.token_begin = static_cast<std::size_t>(tokens.data() - input_.picture.tokens.data());
  }
  result.token_end = result.token_begin + tokens.size();
  result.fresh_cut = true;
  return result;
}

std::uint32_t Board::peak_ppm() const {
  std::uint32_t peak = 0;
  for (const BoardNode& each : nodes_) {
    if (!each.draining) peak = std::max(peak, each.level());
  }
  return peak;
}

}  // namespace cleave::balance
