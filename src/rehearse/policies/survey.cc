#include "rehearse/policies/survey.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/width.h"

namespace cleave::rehearse {

Survey::Survey(const balance::Input& input) : view_(input.view), now_(input.now) {
  CHECK(input.view != nullptr && input.picture.epoch == input.view->epoch());
  add_nodes(input);
  add_ranges(input);
  std::uint64_t capacity = 0;
  for (const SurveyNode& each : nodes_) capacity += each.usable ? each.capacity : 0;
  for (SurveyNode& each : nodes_) {
    if (!each.usable) continue;
    each.fair = static_cast<std::uint64_t>(Wide{total_load_} * each.capacity / capacity);
  }
}

void Survey::add_nodes(const balance::Input& input) {
  for (const ring::Node& node : view_->document().nodes) {
    SurveyNode each{.id = node.id};
    each.leaving = node.state == ring::NodeState::kDraining;
    const auto facts = std::ranges::find(input.nodes, node.id, &balance::NodeFacts::id);
    if (facts != input.nodes.end()) {
      each.capacity = facts->capacity;
      each.keys = facts->keys;
      each.bytes_per_key = facts->bytes_per_key;
      each.usable = facts->healthy && !facts->joining && !each.leaving;
      each.leaving = each.leaving && facts->healthy;
    }
    if (each.capacity == 0) each.capacity = node.weight * balance::kCore;
    nodes_.push_back(each);
  }
  std::ranges::sort(nodes_, {}, &SurveyNode::id);
}

void Survey::add_ranges(const balance::Input& input) {
  const ring::Document& document = view_->document();
  const std::span<const heat::TokenLoad> tokens = input.picture.tokens;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < view_->entries().size(); ++at) {
    const ring::Entry& entry = view_->entries()[at];
    const heat::RangeLoad& seen = input.picture.ranges[at];
    SurveyRange range{.range = entry.range, .owner = entry.node, .load = seen.load};
    range.requests = seen.requests;
    std::size_t end = begin;
    while (end < tokens.size() && tokens[end].token <= entry.range.last) ++end;
    range.tokens = tokens.subspan(begin, end - begin);
    begin = end;
    if (entry.cut != ring::kNone) range.cut = &document.cuts[entry.cut];
    node_at(entry.node).width += ring::width(entry.range);
    if (entry.move != ring::kNone) {
      range.in_flight = true;
      range.owner = document.moves[entry.move].destination;
    }
    node_at(range.owner).load += range.load.mean;
    total_load_ += range.load.mean;
    ranges_.push_back(range);
  }
  for (const ring::Move& move : document.moves) {
    node_at(move.source).busy = true;
    node_at(move.destination).busy = true;
  }
}

std::size_t Survey::index_of(NodeId id) const {
  const auto found = std::ranges::lower_bound(nodes_, id, {}, &SurveyNode::id);
  CHECK(found != nodes_.end() && found->id == id);
  return static_cast<std::size_t>(found - nodes_.begin());
}

std::uint64_t Survey::mean() const {
  const auto staying = std::ranges::count_if(nodes_, &SurveyNode::usable);
  return staying == 0 ? 0 : total_load_ / static_cast<std::uint64_t>(staying);
}

std::vector<NodeId> Survey::free_nodes() const {
  std::vector<const SurveyNode*> free;
  for (const SurveyNode& each : nodes_) {
    if (each.usable && !each.busy) free.push_back(&each);
  }
  std::ranges::stable_sort(free, [](const SurveyNode* left, const SurveyNode* right) {
    return Wide{left->load} * right->capacity < Wide{right->load} * left->capacity;
  });
  std::vector<NodeId> ids;
  for (const SurveyNode* each : free) ids.push_back(each->id);
  return ids;
}

std::vector<std::size_t> Survey::ranges_of(NodeId node) const {
  std::vector<std::size_t> indexes;
  for (std::size_t at = 0; at < ranges_.size(); ++at) {
    if (ranges_[at].owner == node && !ranges_[at].in_flight) indexes.push_back(at);
  }
  std::ranges::stable_sort(indexes, [&](std::size_t left, std::size_t right) {
    return ranges_[left].load.mean > ranges_[right].load.mean;
  });
  return indexes;
}

std::uint64_t Survey::keys_in(const ring::TokenRange& range, NodeId owner) const {
  const SurveyNode& from = node(owner);
  // 32 bits off both: the product fits, and of a share only 2^-32 is lost.
  const Wide whole = from.width >> 32U;
  return whole == 0 ? 0
                    : static_cast<std::uint64_t>(from.keys * (ring::width(range) >> 32U) / whole);
}

std::uint64_t Survey::load_in(const ring::TokenRange& range) const {
  auto entry = std::ranges::lower_bound(ranges_, range.first, {},
                                        [](const SurveyRange& each) { return each.range.last; });
  std::uint64_t load = 0;
  for (; entry != ranges_.end() && entry->range.first <= range.last; ++entry) {
    if (range.first <= entry->range.first && entry->range.last <= range.last) {
      load += entry->load.mean;
      continue;
    }
    for (const heat::TokenLoad& each : entry->tokens) {
      if (range.contains(each.token)) load += each.load;
    }
  }
  return load;
}

// The base gives all of it to its owner anyway.
bool Survey::agrees(const SurveyRange& range) const {
  return std::ranges::all_of(view_->base_in(range.range),
                             [&](const ring::Arc& arc) { return arc.node == range.owner; });
}

std::vector<Neighbours> Survey::neighbours() const {
  std::vector<Neighbours> result;
  for (std::size_t at = 0; at + 1 < ranges_.size(); ++at) add_neighbours(at, result);
  return result;
}

void Survey::add_neighbours(std::size_t at, std::vector<Neighbours>& result) const {
  const SurveyRange& left = ranges_[at];
  const SurveyRange& right = ranges_[at + 1];
  if (left.owner != right.owner || left.in_flight || right.in_flight) return;
  if (left.cut == nullptr && right.cut == nullptr) return;
  const SurveyRange* only = left.cut == nullptr ? &right : right.cut == nullptr ? &left : nullptr;
  if (only != nullptr && !agrees(*only)) return;
  for (const SurveyRange* each : {&left, &right}) {
    if (each->cut != nullptr && each->cut->range != each->range) return;  // a move divides it
  }
  Neighbours pair;
  pair.range = only != nullptr ? only->range : ring::TokenRange{left.range.first, right.range.last};
  for (const SurveyRange* each : {&left, &right}) {
    pair.load += each->load.mean;
    pair.peak += each->load.peak;
    pair.bytes += keys_in(each->range, each->owner) * node(each->owner).bytes_per_key;
    if (each->cut != nullptr) pair.cut_at = std::max(pair.cut_at, each->cut->created);
  }
  result.push_back(pair);
}

balance::PlannedMove Survey::move(NodeId source, NodeId destination,
                                  std::vector<ring::TokenRange> parts, std::string reason) {
  SurveyNode& from = node_at(source);
  SurveyNode& to = node_at(destination);
  balance::PlannedMove result{.source = source, .destination = destination};
  result.reason = std::move(reason);
  if (from.leaving) result.cause = balance::Cause::kDrain;
  for (const ring::TokenRange& each : parts) {
    result.load += load_in(each);
    result.keys += keys_in(each, source);
  }
  result.ranges = ring::normalised(std::move(parts));
  result.bytes = result.keys * from.bytes_per_key;
  result.source_before = from.load;
  result.destination_before = to.load;
  from.load -= std::min(from.load, result.load);
  to.load += result.load;
  result.source_after = from.load;
  result.destination_after = to.load;
  from.busy = true;
  to.busy = true;
  for (SurveyRange& each : ranges_) {
    const auto meets = [&](const ring::TokenRange& part) { return part.overlaps(each.range); };
    if (std::ranges::any_of(result.ranges, meets)) each.in_flight = true;
  }
  return result;
}

std::vector<balance::PlannedMove> Survey::evacuate() {
  std::vector<balance::PlannedMove> moves;
  for (const SurveyNode& source : nodes_) {
    if (!source.leaving || source.busy) continue;
    const std::vector<NodeId> free = free_nodes();
    const std::vector<std::size_t> own = ranges_of(source.id);
    if (free.empty() || own.empty()) continue;
    const SurveyNode& destination = node(free.front());
    std::vector<ring::TokenRange> parts;
    std::uint64_t after = destination.load;
    for (const std::size_t at : own) {
      if (!parts.empty() && after + ranges_[at].load.mean > destination.fair) continue;
      after += ranges_[at].load.mean;
      parts.push_back(ranges_[at].range);
    }
    moves.push_back(move(source.id, destination.id, std::move(parts), "its node leaves the pool"));
  }
  return moves;
}

std::optional<Token> half_point(const SurveyRange& range, std::uint64_t unequal_per_cent) {
  Wide whole = 0;
  for (const heat::TokenLoad& each : range.tokens) whole += each.load;
  std::optional<Token> best;
  Wide least = whole * unequal_per_cent / 100;
  Wide left = 0;
  for (std::size_t at = 0; at + 1 < range.tokens.size(); ++at) {
    left += range.tokens[at].load;
    const Wide right = whole - left;
    const Wide unequal = std::max(left, right) - std::min(left, right);
    if (unequal > least) continue;
    least = unequal;
    best = range.tokens[at].token;
  }
  return best;
}

ring::Cut boundary_after(const SurveyRange& range, Token last, std::string reason, UnixMillis now) {
  return {.range = {range.range.first, last},
          .node = range.owner,
          .reason = std::move(reason),
          .created = now,
          .pinned_until = {}};
}

}  // namespace cleave::rehearse
