#include "ring/schemes/placement.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "ring/schemes/layouts.h"
#include "ring/schemes/point_sort.h"
#include "ring/schemes/scheme_row.h"

namespace cleave::ring {
namespace {

std::vector<SchemeRow> rows() {
  std::vector<SchemeRow> all;
  for (const auto kin : {twemproxy_schemes, libmemcached_schemes, ketama_client_schemes,
                         jedis_schemes, nginx_schemes, haproxy_schemes, envoy_schemes, slot_schemes,
                         direct_schemes, native_schemes}) {
    std::ranges::move(kin(), std::back_inserter(all));
  }
  return all;
}

template <class Range, class Name>
std::string names_of(const Range& range, Name name) {
  std::string names;
  for (const auto& each : range) {
    names += (names.empty() ? "" : ", ") + std::string(std::invoke(name, each));
  }
  return names.empty() ? "none" : names;
}

Result<SchemeRow> find_row(std::string_view name) {
  const std::vector<SchemeRow> all = rows();
  const auto scheme_name = [](const SchemeRow& row) { return row.text.name; };
  const auto found = std::ranges::find(all, name, scheme_name);
  if (found != all.end()) return *found;
  return fail(Code::kInvalid, "no scheme is named '" + std::string(name) +
                                  "'; there are: " + names_of(all, scheme_name));
}

Result<void> check_options(const SchemeSpec& spec, const SchemeText& text) {
  for (const auto& [name, value] : spec.options) {
    const auto found = std::ranges::find(text.options, std::string_view(name), &OptionText::name);
    if (found != text.options.end()) continue;
    return fail(Code::kInvalid, "scheme " + spec.name + " has no option '" + name +
                                    "'; there are: " + names_of(text.options, &OptionText::name));
  }
  return {};
}

Result<void> check_nodes(std::span<const PlacedNode> nodes) {
  if (nodes.empty()) return fail(Code::kInvalid, "no nodes: at least one is needed");
  if (nodes.size() > kPlacedNodesMax) {
    return fail(Code::kExhausted, std::to_string(nodes.size()) + " nodes, at most " +
                                      std::to_string(kPlacedNodesMax) + " are possible");
  }
  std::set<std::string_view> names;
  for (const PlacedNode& node : nodes) {
    if (node.name.empty()) return fail(Code::kInvalid, "a node has an empty name");
    if (node.weight == 0 || node.weight > kPlacedWeightMax) {
      return fail(Code::kInvalid, "node '" + node.name + "': weight " +
                                      std::to_string(node.weight) + ", want 1 to " +
                                      std::to_string(kPlacedWeightMax));
    }
    if (!names.insert(node.name).second) {
      return fail(Code::kInvalid, "two nodes are named '" + node.name + "'");
    }
  }
  return {};
}

std::vector<CirclePoint> sorted_points(const NodeCircle& circle,
                                       std::span<const PlacedNode> nodes) {
  std::vector<CirclePoint> points;
  points.reserve(circle.points_per_weight * weight_sum(nodes));
  for (std::uint32_t i = 0; i < nodes.size(); ++i) circle.add_points(nodes[i], i, points);
  sort_points(points);
  return points;
}

ArcTable take_arcs(Layout& layout, std::span<const PlacedNode> nodes) {
  const auto* const circle = std::get_if<NodeCircle>(&layout.owners);
  if (circle == nullptr) return std::move(std::get<ArcTable>(layout.owners));
  return circle_arcs(sorted_points(*circle, nodes), circle->rules);
}

}  // namespace

Placement::Placement(KeyToToken token_of, ArcTable arcs, Tokens tokens)
    : token_of_(std::move(token_of)),
      index_(std::move(arcs.firsts)),
      owners_(std::move(arcs.owners)),
      tokens_(tokens) {}

std::optional<std::size_t> Placement::owner(std::string_view key) const {
  const std::optional<Token> token = token_of(key);
  if (!token) return std::nullopt;
  return owner(*token);
}

Result<std::shared_ptr<const Placement>> place(const SchemeSpec& spec,
                                               std::span<const PlacedNode> nodes) {
  const auto row = find_row(spec.name);
  if (!row) return std::unexpected(row.error());
  if (auto good = check_options(spec, row->text); !good) return std::unexpected(good.error());
  if (auto good = check_nodes(nodes); !good) return std::unexpected(good.error());
  OptionReader options(spec);
  Layout layout = row->build(options, nodes);
  if (options.error()) return std::unexpected(*options.error());
  ArcTable arcs = take_arcs(layout, nodes);
  // A weight so small beside the others that no node gets a point.
  if (arcs.owners.empty()) return fail(Code::kInvalid, "scheme " + spec.name + ": no points");
  return std::make_shared<const Placement>(std::move(layout.token_of), std::move(arcs),
                                           layout.tokens);
}

std::vector<SchemeText> schemes() {
  std::vector<SchemeText> texts;
  for (SchemeRow& row : rows()) texts.push_back(std::move(row.text));
  return texts;
}

}  // namespace cleave::ring
