#include "ring/scheme.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "ring/arc_table.h"
#include "ring/hash_tag.h"
#include "ring/schemes/circle.h"
#include "ring/schemes/numbered_text.h"
#include "ring/schemes/point_sort.h"

namespace cleave::ring {
namespace {

// By id, which settles ties: of equal points the one put first stays.
std::vector<const Node*> active_by_id(std::span<const Node> nodes) {
  std::vector<const Node*> active;
  for (const Node& node : nodes) {
    if (node.state == NodeState::kActive) active.push_back(&node);
  }
  std::ranges::sort(active, {}, &Node::id);
  return active;
}

}  // namespace

Token vnode_token(std::string_view key) { return Token{xxh3_64(hash_tag(key))}; }

std::vector<Arc> vnode_base(std::span<const Node> nodes) {
  const std::vector<const Node*> active = active_by_id(nodes);
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < active.size(); ++i) {
    const std::string stem = active[i]->name + "#";
    const std::uint64_t count = std::uint64_t{kPointsPerWeight} * active[i]->weight;
    add_numbered_points({.stem = stem, .count = count, .node = i}, xxh3_64, points);
  }
  sort_points(points);
  const ArcTable table = circle_arcs(points, {.width = CircleRules::Width::k64});
  std::vector<Arc> arcs;
  arcs.reserve(table.owners.size());
  for (std::size_t i = 0; i < table.owners.size(); ++i) {
    arcs.push_back(arc_at(table.firsts, table.owners, i));
    arcs.back().node = active[arcs.back().node.value() - 1]->id;
  }
  return arcs;
}

}  // namespace cleave::ring
