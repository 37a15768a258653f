#include "ring/scheme.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "ring/hash_tag.h"

namespace cleave::ring {
namespace {

struct Point {
  Token token;
  NodeId node;

  friend auto operator<=>(const Point&, const Point&) = default;
};

void add_points(const Node& node, std::vector<Point>& points) {
  std::string text = node.name + "#";
  const std::size_t stem = text.size();
  for (std::uint32_t i = 0; i < kPointsPerWeight * node.weight; ++i) {
    text.resize(stem);
    text += std::to_string(i);
    points.push_back({Token{xxh3_64(text)}, node.id});
  }
}

// Sorted, one point a token: of equal tokens the one of the smaller id stays.
std::vector<Point> points_of(std::span<const Node> nodes) {
  std::vector<Point> points;
  for (const Node& node : nodes) {
    if (node.state == NodeState::kActive) add_points(node, points);
  }
  std::ranges::sort(points);
  const auto repeated = std::ranges::unique(points, {}, &Point::token);
  points.erase(repeated.begin(), repeated.end());
  return points;
}

void append(std::vector<Arc>& arcs, const Arc& arc) {
  if (!arcs.empty() && arcs.back().node == arc.node) {
    arcs.back().range.last = arc.range.last;
  } else {
    arcs.push_back(arc);
  }
}

}  // namespace

Token vnode_token(std::string_view key) { return Token{xxh3_64(hash_tag(key))}; }

std::vector<Arc> vnode_base(std::span<const Node> nodes) {
  std::vector<Arc> arcs;
  const std::vector<Point> points = points_of(nodes);
  if (points.empty()) return arcs;
  std::uint64_t first = 0;
  for (const Point& point : points) {
    append(arcs, {{Token{first}, point.token}, point.node});
    first = point.token.value() + 1;
  }
  if (points.back().token < kLastToken) {
    append(arcs, {{Token{first}, kLastToken}, points.front().node});
  }
  return arcs;
}

}  // namespace cleave::ring
