#include "ring/schemes/placement.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/check.h"
#include "ring/schemes/key_batches.h"
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
  std::vector<std::string_view> names;
  names.reserve(nodes.size());
  for (const PlacedNode& node : nodes) {
    if (node.name.empty()) return fail(Code::kInvalid, "a node has an empty name");
    if (node.weight == 0 || node.weight > kPlacedWeightMax) {
      return fail(Code::kInvalid, "node '" + node.name + "': weight " +
                                      std::to_string(node.weight) + ", want 1 to " +
                                      std::to_string(kPlacedWeightMax));
    }
    names.push_back(node.name);
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return {};
  return fail(Code::kInvalid, "two nodes are named '" + std::string(*twice) + "'");
}

// From here on an index is not all in the second cache of a processor, and it pays to call memory
// for many look-ups before the first of them is made.
constexpr std::size_t kFetchedArcs = std::size_t{1} << 15U;

}  // namespace

Placement::Placement(KeyToToken token_of, ArcTable arcs, Tokens tokens)
    : token_of_(std::move(token_of)),
      index_(std::move(arcs.firsts)),
      owners_(std::move(arcs.owners)),
      tokens_(tokens) {
  CHECK(index_.firsts().size() == owners_.size());
}

void Placement::owners(std::span<const std::optional<Token>> tokens,
                       std::span<std::size_t> owners) const {
  CHECK(tokens.size() == owners.size());
  if (owners_.size() >= kFetchedArcs) {
    for (const std::optional<Token>& token : tokens) {
      if (token) index_.fetch_first(*token);
    }
    for (const std::optional<Token>& token : tokens) {
      if (!token) continue;
      index_.fetch_rest(*token);
      __builtin_prefetch(&owners_[index_.find_about(*token)]);
    }
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    owners[i] = tokens[i] ? owners_[index_.find(*tokens[i])].value() - 1 : kNoNode;
  }
}

void Placement::owners(std::span<const std::string_view> keys,
                       std::span<std::size_t> owners) const {
  for_each_key_batch(keys, owners, [&](auto some, auto tokens, auto found) {
    tokens_of(some, tokens);
    this->owners(tokens, found);
  });
}

Result<std::shared_ptr<const Placement>> place(const SchemeSpec& spec,
                                               std::span<const PlacedNode> nodes) {
  Result<Layout> layout = lay_out(spec, nodes);
  if (!layout) return std::unexpected(layout.error());
  return place_layout(spec, std::move(*layout), nodes);
}

Result<std::shared_ptr<const Placement>> place_layout(const SchemeSpec& spec, Layout layout,
                                                      std::span<const PlacedNode> nodes) {
  const auto* const circle = std::get_if<NodeCircle>(&layout.owners);
  ArcTable arcs = circle == nullptr ? std::get<ArcTable>(std::move(layout.owners))
                                    : circle_arcs(sorted_points(*circle, nodes), circle->rules);
  return make_placement(spec, std::move(layout), std::move(arcs));
}

Result<Layout> lay_out(const SchemeSpec& spec, std::span<const PlacedNode> nodes) {
  const auto row = find_row(spec.name);
  if (!row) return std::unexpected(row.error());
  if (auto good = check_options(spec, row->text); !good) return std::unexpected(good.error());
  if (auto good = check_nodes(nodes); !good) return std::unexpected(good.error());
  OptionReader options(spec);
  Layout layout = row->build(options, nodes);
  if (options.error()) return std::unexpected(*options.error());
  return layout;
}

std::vector<CirclePoint> sorted_points(const NodeCircle& circle,
                                       std::span<const PlacedNode> nodes) {
  std::vector<CirclePoint> points;
  points.reserve(circle.points_per_weight * weight_sum(nodes));
  for (std::uint32_t i = 0; i < nodes.size(); ++i) circle.add_points(nodes[i], i, points);
  sort_points(points);
  return points;
}

Result<std::shared_ptr<const Placement>> make_placement(const SchemeSpec& spec, Layout layout,
                                                        ArcTable arcs) {
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
