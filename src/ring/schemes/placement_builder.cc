#include "ring/schemes/placement_builder.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/check.h"
#include "ring/schemes/point_sort.h"
#include "ring/schemes/scheme_row.h"

namespace cleave::ring {
namespace {

// A circle's order of points: equal ones were put in the order of the nodes.
bool is_after(const CirclePoint& left, const CirclePoint& right) {
  return std::tie(left.value, left.node) > std::tie(right.value, right.node);
}

// Both sorted. From the back, so that every point is moved once, within the list.
void merge_in(std::vector<CirclePoint>& points, const std::vector<CirclePoint>& added) {
  std::size_t old = points.size();
  std::size_t rest = added.size();
  points.resize(old + rest);
  for (std::size_t to = points.size(); rest > 0;) {
    CHECK(to == old + rest);  // else a point that is still to be moved is overwritten
    const bool keep = old > 0 && is_after(points[old - 1], added[rest - 1]);
    points[--to] = keep ? points[--old] : added[--rest];
  }
}

void add_points(const NodeCircle& circle, const PlacedNode& node, std::uint32_t index,
                std::vector<CirclePoint>& points) {
  std::vector<CirclePoint> added;
  added.reserve(circle.points_per_weight * node.weight);
  circle.add_points(node, index, added);
  sort_points(added);
  merge_in(points, added);
}

void drop_points(std::uint32_t index, std::vector<CirclePoint>& points) {
  std::erase_if(points, [&](const CirclePoint& point) { return point.node == index; });
}

}  // namespace

Result<PlacementBuilder> PlacementBuilder::start(SchemeSpec spec, std::vector<PlacedNode> nodes) {
  PlacementBuilder builder(std::move(spec), {});
  const auto build = [&](const NodeCircle& circle) {
    builder.points_ = sorted_points(circle, nodes);
  };
  if (auto made = builder.change_to(nodes, build); !made) return std::unexpected(made.error());
  return builder;
}

Result<void> PlacementBuilder::add(PlacedNode node) {
  std::vector<PlacedNode> nodes = nodes_;
  nodes.push_back(std::move(node));
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  const auto joiner = nodes.back();
  return change_to(std::move(nodes),
                   [&](const NodeCircle& circle) { add_points(circle, joiner, index, points_); });
}

Result<void> PlacementBuilder::remove(std::string_view name) {
  const auto index = index_of(name);
  if (!index) return std::unexpected(index.error());
  std::vector<PlacedNode> nodes = nodes_;
  nodes.erase(nodes.begin() + *index);
  return change_to(std::move(nodes), [&](const NodeCircle& /*circle*/) {
    drop_points(*index, points_);
    // Those behind it in the list move up.
    for (CirclePoint& point : points_) point.node -= point.node > *index ? 1U : 0U;
  });
}

Result<void> PlacementBuilder::set_weight(std::string_view name, std::uint32_t weight) {
  const auto index = index_of(name);
  if (!index) return std::unexpected(index.error());
  std::vector<PlacedNode> nodes = nodes_;
  nodes[*index].weight = weight;
  const PlacedNode node = nodes[*index];
  return change_to(std::move(nodes), [&](const NodeCircle& circle) {
    drop_points(*index, points_);
    add_points(circle, node, *index, points_);
  });
}

Result<std::uint32_t> PlacementBuilder::index_of(std::string_view name) const {
  const auto found = std::ranges::find(nodes_, name, &PlacedNode::name);
  if (found != nodes_.end()) return static_cast<std::uint32_t>(found - nodes_.begin());
  return fail(Code::kNotFound, "no node is named '" + std::string(name) + "'");
}

template <class Edit>
Result<void> PlacementBuilder::change_to(std::vector<PlacedNode> nodes, Edit edit) {
  Result<Layout> layout = lay_out(spec_, nodes);
  if (!layout) return std::unexpected(layout.error());
  auto* const circle = std::get_if<NodeCircle>(&layout->owners);
  ArcTable arcs;
  if (circle == nullptr) {
    arcs = std::get<ArcTable>(std::move(layout->owners));
  } else {
    edit(*circle);
    // Each node of such a circle has points: what follows cannot fail with the points edited.
    CHECK(!points_.empty());
    arcs = circle_arcs(points_, circle->rules);
  }
  auto placement = make_placement(spec_, std::move(*layout), std::move(arcs));
  if (!placement) return std::unexpected(placement.error());
  nodes_ = std::move(nodes);
  placement_ = std::move(*placement);
  return {};
}

}  // namespace cleave::ring
