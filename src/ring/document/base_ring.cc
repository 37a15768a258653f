#include "ring/document/base_ring.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

// A key as any client may send one.
constexpr std::string_view kAnyKey = "cleave";

const std::string& hashed_name(const Node& node) {
  return node.hash_key.empty() ? node.name : node.hash_key;
}

auto active(const std::vector<Node>& nodes) {
  return nodes |
         std::views::filter([](const Node& node) { return node.state == NodeState::kActive; });
}

bool same_place(const Node& left, const Node& right) {
  return left.id == right.id && left.weight == right.weight &&
         hashed_name(left) == hashed_name(right);
}

}  // namespace

Result<BaseRing> make_base(const Document& document) {
  std::vector<PlacedNode> nodes;
  std::vector<NodeId> ids;
  for (const Node& node : active(document.nodes)) {
    nodes.push_back(
        {.name = hashed_name(node), .weight = node.weight, .position = node.id.value() - 1});
    ids.push_back(node.id);
  }
  auto placement = place(document.scheme, nodes);
  if (!placement) return std::unexpected(placement.error());
  if (!(*placement)->token_of(kAnyKey)) {
    return fail(Code::kInvalid, "scheme " + document.scheme.name +
                                    " places numbers only; a pool needs its option 'hash'");
  }
  BaseRing base{.placement = std::move(*placement), .arcs = {}};
  base.arcs.reserve(base.placement->arcs().size());
  for (const Arc& arc : base.placement->arcs()) {
    CHECK(arc.node != NodeId{} && arc.node.value() <= ids.size());
    base.arcs.push_back({arc.range, ids[arc.node.value() - 1]});
  }
  return base;
}

bool same_base(const Document& left, const Document& right) {
  return left.scheme == right.scheme &&
         std::ranges::equal(active(left.nodes), active(right.nodes), same_place);
}

Result<void> check_cuttable(const SchemeSpec& scheme, const Placement& placement) {
  if (placement.fixed_tokens()) return {};
  return fail(Code::kConflict, "scheme " + scheme.name +
                                   " places a key by the number of nodes: no range of it can be "
                                   "cut or moved, and nodes stay as they are");
}

}  // namespace cleave::ring
