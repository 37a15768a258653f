#include "ring/schemes/placement_join.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "ring/arc_table.h"
#include "ring/schemes/scheme_row.h"
#include "ring/token_range.h"

namespace cleave::ring {
namespace {

Token before(Token token) { return Token{token.value() - 1}; }
Token after(Token token) { return Token{token.value() + 1}; }

// The points of nodes, hashed when they are first asked for.
class PointsOfNodes {
 public:
  PointsOfNodes(const NodeCircle& circle, std::span<const PlacedNode> nodes)
      : circle_(circle), nodes_(nodes) {}

  // The last tokens of a node's points, ascending.
  const std::vector<Token>& of(std::uint32_t index) {
    const auto [found, is_new] = points_.try_emplace(index);
    if (is_new) found->second = hashed(index);
    return found->second;
  }

 private:
  std::vector<Token> hashed(std::uint32_t index) const {
    CHECK(index < nodes_.size());
    std::vector<CirclePoint> points;
    circle_.add_points(nodes_[index], index, points);
    CHECK(!points.empty());  // each node of such a circle has some
    std::vector<Token> tokens;
    tokens.reserve(points.size());
    for (const CirclePoint& point : points) {
      tokens.emplace_back(last_token(point.value, circle_.rules.width));
    }
    std::ranges::sort(tokens);
    return tokens;
  }

  const NodeCircle& circle_;
  std::span<const PlacedNode> nodes_;
  std::map<std::uint32_t, std::vector<Token>> points_;
};

// What a node that is put last takes from the others, in token order.
class Joiner {
 public:
  Joiner(const Placement& placement, PointsOfNodes& points, std::uint32_t index)
      : placement_(placement), points_(points), index_(index) {}

  std::vector<TokenRange> takes(CircleRules::Tie tie) {
    std::vector<TokenRange> ranges;
    const std::vector<Token>& own = points_.of(index_);
    for (const Token last : own) {
      const bool again = !ranges.empty() && ranges.back().last == last;
      if (again || (tie == CircleRules::Tie::kFirstPut && is_taken(last))) continue;
      const Token from = begin_of(last);
      ranges.push_back({ranges.empty() ? from : std::max(from, after(ranges.back().last)), last});
    }
    // Whoever has the first point of all has what lies past the last one.
    const bool is_first = !ranges.empty() && ranges.front().first == kFirstToken;
    const Token last_point = std::max(last_point_of_others(), own.back());
    if (is_first && last_point < kLastToken) ranges.push_back({after(last_point), kLastToken});
    return ranges;
  }

 private:
  const std::vector<Token>& points_of(const Arc& arc) { return points_.of(arc.node.value() - 1); }

  // Whether another point has that token. Its owner is that of the arc, whoever else lost the tie.
  bool is_taken(Token token) {
    return std::ranges::binary_search(points_of(placement_.arc_of(token)), token);
  }

  // The token after the last point of the others below: the arc's owner may have points within it.
  Token begin_of(Token point) {
    const Arc arc = placement_.arc_of(point);
    const std::vector<Token>& inside = points_of(arc);
    const auto next = std::ranges::lower_bound(inside, point);
    if (next == inside.begin()) return arc.range.first;
    return std::max(arc.range.first, after(*std::prev(next)));
  }

  Token last_point_of_others() {
    const Arc arc = placement_.arc_of(kLastToken);
    const Token last = points_of(arc).back();
    return last >= arc.range.first ? last : before(arc.range.first);
  }

  const Placement& placement_;
  PointsOfNodes& points_;
  std::uint32_t index_;
};

// The arcs with `ranges` given to the joiner. Requires: each range lies within one arc.
ArcTable overlaid(const Placement& placement, std::span<const TokenRange> ranges,
                  std::uint32_t joiner) {
  const auto arcs = placement.arcs();
  ArcWriter writer(arcs.size() + 2 * ranges.size());
  auto range = ranges.begin();
  for (const Arc& arc : arcs) {
    const std::uint32_t owner = arc.node.value() - 1;
    for (; range != ranges.end() && range->first <= arc.range.last; ++range) {
      if (range->first > arc.range.first) writer.until(before(range->first).value(), owner);
      CHECK(range->last <= arc.range.last);  // it lies within the arc
      writer.until(range->last.value(), joiner);
    }
    writer.until(arc.range.last.value(), owner);
  }
  CHECK(range == ranges.end());
  return writer.take();
}

}  // namespace

Result<std::shared_ptr<const Placement>> place_joined(const Placement& before,
                                                      const SchemeSpec& spec,
                                                      std::span<const PlacedNode> nodes) {
  Result<Layout> layout = lay_out(spec, nodes);
  if (!layout) return std::unexpected(layout.error());
  const auto* const circle = std::get_if<NodeCircle>(&layout->owners);
  if (circle == nullptr || circle->rules.pick != CircleRules::Pick::kAtOrAbove) {
    return place_layout(spec, std::move(*layout), nodes);
  }
  const auto index = static_cast<std::uint32_t>(nodes.size() - 1);
  PointsOfNodes points(*circle, nodes);
  const std::vector<TokenRange> ranges = Joiner(before, points, index).takes(circle->rules.tie);
  return make_placement(spec, std::move(*layout), overlaid(before, ranges, index));
}

}  // namespace cleave::ring
