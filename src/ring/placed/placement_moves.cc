#include "ring/placed/placement_moves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

class Sums {
 public:
  explicit Sums(std::vector<std::string> names) {
    moves_.before.resize(names.size());
    moves_.after.resize(names.size());
    moves_.names = std::move(names);
  }

  void before(NodeId node, Wide amount) { moves_.before[index_of(node)] += amount; }
  void after(NodeId node, Wide amount) { moves_.after[index_of(node)] += amount; }
  void flow(NodeId from, NodeId to, Wide amount) {
    CHECK(from != to);
    flows_[{from, to}] += amount;
  }

  PlacementMoves result() && {
    for (std::size_t i = 0; i < moves_.names.size(); ++i) {
      moves_.total += moves_.before[i];
      if (moves_.after[i] > moves_.before[i]) moves_.least += moves_.after[i] - moves_.before[i];
    }
    for (const auto& [ends, amount] : flows_) {
      moves_.flows.push_back({ends.first, ends.second, amount});
      moves_.moved += amount;
    }
    std::ranges::stable_sort(moves_.flows, std::ranges::greater(), &Flow::amount);
    CHECK(moves_.moved >= moves_.least);  // what a node gains has come from others
    return std::move(moves_);
  }

 private:
  std::size_t index_of(NodeId node) const {
    CHECK(node != NodeId{} && node.value() <= moves_.names.size());
    return node.value() - 1;
  }

  PlacementMoves moves_;
  std::map<std::pair<NodeId, NodeId>, Wide> flows_;
};

}  // namespace

Result<PlacementMoves> moves_by_tokens(const PlacementSide& before, const PlacementSide& after) {
  auto changes = diff(before, after);
  if (!changes) return std::unexpected(changes.error());
  const CommonNodes common = common_nodes(before.nodes, after.nodes);
  Sums sums(std::move(changes->names));
  for (const Arc& arc : before.placement.arcs()) {
    sums.before(common.before[arc.node.value() - 1], width(arc.range));
  }
  for (const Arc& arc : after.placement.arcs()) {
    sums.after(common.after[arc.node.value() - 1], width(arc.range));
  }
  for (const Change& each : changes->changes) sums.flow(each.from, each.to, width(each.range));
  return std::move(sums).result();
}

Result<PlacementMoves> moves_by_keys(const PlacementSide& before, const PlacementSide& after,
                                     std::span<const std::string> keys) {
  CommonNodes common = common_nodes(before.nodes, after.nodes);
  Sums sums(std::move(common.names));
  for (const std::string& key : keys) {
    const auto from = before.placement.owner(key);
    const auto to = after.placement.owner(key);
    if (!from || !to) continue;
    sums.before(common.before[*from], 1);
    sums.after(common.after[*to], 1);
    if (common.before[*from] != common.after[*to]) {
      sums.flow(common.before[*from], common.after[*to], 1);
    }
  }
  PlacementMoves moves = std::move(sums).result();
  if (moves.total == 0)
    return fail(Code::kInvalid, "none of the keys has a place before and after");
  return moves;
}

}  // namespace cleave::ring
