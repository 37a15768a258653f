#include "ring/placed/arc_walk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ring/token_range.h"

namespace cleave::ring {
namespace {

using Place = std::pair<NodeId, std::uint32_t>;  // a node and where it stands in the list

Result<std::vector<Place>> places_of(std::span<const NodeId> nodes) {
  std::vector<Place> places;
  places.reserve(nodes.size());
  for (const NodeId node : nodes) {
    places.emplace_back(node, static_cast<std::uint32_t>(places.size()));
  }
  std::ranges::sort(places);
  const auto twice = std::ranges::adjacent_find(places, {}, &Place::first);
  if (twice == places.end()) return places;
  return fail(Code::kInvalid, "node " + std::to_string(twice->first.value()) + " is listed twice");
}

Result<void> check_cover(std::span<const Arc> arcs) {
  if (arcs.empty() || arcs.front().range.first != kFirstToken ||
      arcs.back().range.last != kLastToken) {
    return fail(Code::kInvalid, "the arcs do not reach from the first token to the last");
  }
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const TokenRange& range = arcs[i].range;
    const bool follows = i == 0 || arcs[i - 1].range.last.value() + 1 == range.first.value();
    if (follows && range.first <= range.last) continue;
    return fail(Code::kInvalid, "the arcs do not follow each other at " + to_string(range));
  }
  return {};
}

}  // namespace

Result<ArcWalk> ArcWalk::build(std::span<const Arc> arcs, std::span<const NodeId> nodes) {
  if (auto good = check_cover(arcs); !good) return std::unexpected(good.error());
  const auto places = places_of(nodes);
  if (!places) return std::unexpected(places.error());
  std::vector<Token> firsts;
  std::vector<std::uint32_t> owners;
  firsts.reserve(arcs.size());
  owners.reserve(arcs.size());
  for (const Arc& arc : arcs) {
    const auto owner = std::ranges::lower_bound(*places, arc.node, {}, &Place::first);
    if (owner == places->end() || owner->first != arc.node) {
      return fail(Code::kInvalid, "node " + std::to_string(arc.node.value()) +
                                      " owns an arc and is not among the nodes");
    }
    firsts.push_back(arc.range.first);
    owners.push_back(owner->second);
  }
  return ArcWalk(TokenIndex(std::move(firsts)), std::move(owners));
}

}  // namespace cleave::ring
