#include "balance/steps/board.h"

#include <algorithm>
#include <set>

#include "balance/steps/input_check.h"
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
  if (std::string doubt = distrust(*facts); !doubt.empty()) return doubt;
  if (facts->unattributed_writes) {
    return "somebody writes to it past the routers, and a move would lose such writes";
  }
  return facts->vetoes.empty() ? "" : *std::ranges::min_element(facts->vetoes);
}

// Facts by node. Of a node that is told of twice, and not alike, nothing is believed.
class FactsByNode {
 public:
  explicit FactsByNode(const std::vector<NodeFacts>& facts) {
    for (const NodeFacts& each : facts) sorted_.push_back(&each);
    std::ranges::sort(sorted_, {}, [](const NodeFacts* each) { return each->id; });
  }

  const NodeFacts* find(NodeId id) const {
    const auto found =
        std::ranges::lower_bound(sorted_, id, {}, [](const NodeFacts* each) { return each->id; });
    if (found == sorted_.end() || (*found)->id != id) return nullptr;
    for (auto other = found; other != sorted_.end() && (*other)->id == id; ++other) {
      if (**other != **found) return nullptr;
    }
    return *found;
  }

 private:
  std::vector<const NodeFacts*> sorted_;
};

// Ids are given in order and never again, so a table by id is at most this much longer than the
// list of nodes, unless a pool has seen very many; then they are searched for.
constexpr std::size_t kPlacesPerNode = 64;

}  // namespace

std::uint64_t scaled(std::uint64_t amount, Wide part, Wide whole) {
  CHECK(whole > 0);
  // Widths need 65 bits: with 32 of them off both, the product fits and 2^-32 is lost.
  while (part >> 64U != 0 || whole >> 64U != 0) {
    part >>= 1U;
    whole >>= 1U;
  }
  const Wide result = Wide{amount} * part / whole;
  CHECK(result >> 64U == 0);
  return static_cast<std::uint64_t>(result);
}

Board::Board(const Input& input) : input_(input) {
  CHECK(input.view != nullptr && input.picture.epoch == input.view->epoch());
  CHECK(input.picture.ranges.size() == input.view->entries().size());
  loads_before_.reserve(input.picture.tokens.size() + 1);
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
  const auto& nodes = input_.view->document().nodes;
  const FactsByNode facts(input_.nodes);
  for (const ring::Node& node : nodes) {
    const NodeFacts* known = facts.find(node.id);
    BoardNode each{.id = node.id, .name = node.name};
    each.draining = node.state == ring::NodeState::kDraining;
    each.reachable = known != nullptr && known->healthy;
    each.no_source = veto_of(known);
    each.no_target = each.no_source;
    if (each.no_target.empty() && each.draining) each.no_target = "it is being drained";
    if (each.no_target.empty() && known->joining) each.no_target = "it is not ready yet";
    if (each.no_target.empty() && !known->refuses.empty())
      each.no_target = "its last move was refused: " + known->refuses;
    if (known != nullptr) each.rdb_version = known->rdb_version;
    each.members = node.members.size();
    each.racks = racks_of(node);
    if (known != nullptr && distrust(*known).empty()) {
      each.capacity = known->capacity;
      each.keys = known->keys;
      each.bytes_per_key = known->bytes_per_key;
      each.memory = known->memory_bytes;
      each.key_sample = known->key_sample;
      each.sample_due = known->sample_due;
      each.memory_max = known->memory_bytes_max;
    }
    if (each.capacity == 0) each.capacity = node.weight * kCore;
    if (each.draining) each.capacity = 0;
    total_keys_ += each.keys;
    nodes_.push_back(std::move(each));
  }
  CHECK(!nodes_.empty());
  const std::size_t ids = nodes.back().id.value() + std::size_t{1};
  if (ids > nodes.size() * kPlacesPerNode) return;
  places_.resize(ids);
  for (std::uint32_t place = 0; place < nodes.size(); ++place) {
    places_[nodes[place].id.value()] = place;
  }
}

void Board::add_ranges() {
  const auto& moves = input_.view->document().moves;
  const auto& tokens = input_.picture.tokens;
  const auto entries = input_.view->entries();
  ranges_.resize(nodes_.size());
  std::size_t token = 0;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const heat::RangeLoad& seen = input_.picture.ranges[index];
    const ring::Entry& entry = entries[index];
    BoardRange range{.range = entry.range, .load = seen.load.mean, .token_begin = token};
    while (token < tokens.size() && tokens[token].token <= entry.range.last) ++token;
    range.token_end = token;
    range.in_cut = entry.cut != ring::kNone;
    const Wide width = ring::width(entry.range);
    const std::size_t now = at(entry.node);
    std::size_t then = now;
    nodes_[now].width_now += width;
    if (entry.move == ring::kNone) {
      ranges_[now].push_back(range);
    } else {
      CHECK(entry.move < moves.size());
      then = at(moves[entry.move].destination);
    }
    nodes_[then].load += range.load;
    nodes_[then].width += width;
    total_load_ += range.load;
  }
  CHECK(token == tokens.size());  // each lies in one range
}

void Board::add_flights() {
  for (const ring::Move& move : input_.view->document().moves) {
    ++nodes_[at(move.source)].moves_out;
    ++nodes_[at(move.destination)].moves_in;
    for (const ring::TokenRange& each : move.ranges) {
      CHECK(!moving(each));  // a token is in one move at most
      moving_.emplace(each.first, each.last);
    }
  }
}

void Board::share_out() {
  Wide capacity = 0;
  Wide weights = 0;
  Wide width = 0;
  const auto& nodes = input_.view->document().nodes;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    capacity += nodes_[at].capacity;
    width += nodes_[at].width;
    if (!nodes_[at].draining) weights += nodes[at].weight;
  }
  CHECK(capacity > 0 && weights > 0);  // somebody is active
  CHECK(width == ring::kAllTokens);    // every token is one node's
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    BoardNode& each = nodes_[at];
    if (each.draining) continue;
    each.fair = scaled(total_load_, each.capacity, capacity);
    each.fair_width = ring::kAllTokens / weights * nodes[at].weight;
  }
}

std::size_t Board::at(NodeId id) const {
  if (!places_.empty()) {
    CHECK(id.value() < places_.size());
    const std::size_t place = places_[id.value()];
    CHECK(nodes_[place].id == id);
    return place;
  }
  const auto found = std::ranges::lower_bound(nodes_, id, {}, &BoardNode::id);
  CHECK(found != nodes_.end() && found->id == id);
  return static_cast<std::size_t>(found - nodes_.begin());
}

bool Board::moving(const ring::TokenRange& range) const {
  // The last piece that begins at or before the end of the range.
  auto piece = moving_.upper_bound(range.last);
  return piece != moving_.begin() && (--piece)->second >= range.first;
}

std::uint32_t Board::unhealthy() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(nodes_, [](const BoardNode& each) { return !each.reachable; }));
}

Price Board::price_of(const BoardNode& node) const {
  return {.keys = node.keys,
          .width = std::max(node.width_now, Wide{1}),
          .bytes_per_key = std::max<std::uint64_t>(node.bytes_per_key, 1),
          .piece_bytes = constants().piece_bytes,
          .stock = stock_of(node)};
}

const Stock* Board::stock_of(const BoardNode& node) const {
  if (node.key_sample.empty()) return nullptr;
  auto known = stocks_.find(node.id);
  if (known == stocks_.end()) {
    std::vector<ring::TokenRange> ranges;
    for (const BoardRange& each : ranges_of(node.id)) ranges.push_back(each.range);
    const Stock stock(ranges, node.key_sample, node.keys, node.keys * node.bytes_per_key);
    known = stocks_.emplace(node.id, stock).first;
  }
  return &known->second;
}

std::span<const heat::TokenLoad> Board::tokens_in(const BoardRange& range,
                                                  const ring::TokenRange& part) const {
  CHECK(range.token_begin <= range.token_end);
  CHECK(range.token_end <= input_.picture.tokens.size());
  const std::span<const heat::TokenLoad> all =
      std::span(input_.picture.tokens)
          .subspan(range.token_begin, range.token_end - range.token_begin);
  if (part == range.range) return all;
  const auto begin = std::ranges::lower_bound(all, part.first, {}, &heat::TokenLoad::token);
  const auto end = std::ranges::upper_bound(all, part.last, {}, &heat::TokenLoad::token);
  return {begin, end};
}

std::uint64_t Board::load_in(const BoardRange& range, const ring::TokenRange& part) const {
  CHECK(range.range.first <= part.first && part.last <= range.range.last);
  if (part == range.range) return range.load;
  if (range.token_begin == range.token_end) {
    return scaled(range.load, ring::width(part), ring::width(range.range));
  }
  const auto tokens = tokens_in(range, part);
  if (tokens.empty()) return 0;
  const auto begin = static_cast<std::size_t>(tokens.data() - input_.picture.tokens.data());
  return loads_before_[begin + tokens.size()] - loads_before_[begin];
}

void Board::apply(const PlannedMove& move) {
  divide(move);
  BoardNode& source = nodes_[at(move.source)];
  BoardNode& destination = nodes_[at(move.destination)];
  source.load -= std::min(source.load, move.load);
  destination.load += move.load;
  destination.memory += move.bytes;
  ++source.moves_out;
  ++destination.moves_in;
  for (const ring::TokenRange& range : move.ranges) {
    CHECK(!moving(range) && source.width >= ring::width(range));
    source.width -= ring::width(range);
    destination.width += ring::width(range);
    moving_.emplace(range.first, range.last);
  }
}

// Cuts the source's ranges where the move's begin and end; what lies inside is nobody's to give
// until it has arrived.
void Board::divide(const PlannedMove& move) {
  std::vector<BoardRange>& ranges = ranges_[at(move.source)];
  std::vector<BoardRange> next;
  next.reserve(ranges.size() + 2 * move.ranges.size());
  Wide taken = 0;
  for (const BoardRange& range : ranges) {
    const ring::RangeSet rest = ring::outside(range.range, move.ranges);
    taken += ring::width(range.range);
    for (const ring::TokenRange& part : rest) {
      taken -= ring::width(part);
      next.push_back(part == range.range ? range : part_of(range, part));
    }
  }
  for (const ring::TokenRange& each : move.ranges) taken -= ring::width(each);
  CHECK(taken == 0);  // all that moves was the source's to give
  ranges = std::move(next);
}

// Requires: `part` lies within the range.
BoardRange Board::part_of(const BoardRange& range, const ring::TokenRange& part) const {
  BoardRange result = range;
  result.range = part;
  result.load = load_in(range, part);
  const auto tokens = tokens_in(range, part);
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
