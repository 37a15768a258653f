#include "ring/document/even.h"

#include <algorithm>

#include "base/check.h"
#include "ring/canonical.h"
#include "ring/document/shares.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

// The largest arc of the node that is still as the base has it; its front is cut off.
Arc& largest_arc(std::vector<Arc>& arcs, NodeId node) {
  Arc* largest = nullptr;
  for (Arc& arc : arcs) {
    if (arc.node != node) continue;
    if (largest == nullptr || width(arc.range) > width(largest->range)) largest = &arc;
  }
  CHECK(largest != nullptr);
  return *largest;
}

// Takes at most `wanted` tokens from the front of the arc; a taken arc is nobody's.
TokenRange take_front(Arc& arc, Wide wanted) {
  TokenRange piece = arc.range;
  if (width(arc.range) <= wanted) {
    arc.node = NodeId{};
    return piece;
  }
  piece.last = Token{piece.first.value() + static_cast<std::uint64_t>(wanted - 1)};
  arc.range.first = Token{piece.last.value() + 1};
  return piece;
}

}  // namespace

std::vector<Cut> even_cuts(std::span<const Node> nodes, std::span<const Arc> base, UnixMillis now) {
  std::vector<Arc> arcs(base.begin(), base.end());
  std::vector<Share> shares = shares_of(nodes, base);
  std::vector<Cut> cuts;
  while (
      std::ranges::any_of(shares, [](const Share& share) { return !share.even(kEvenPerMille); })) {
    Share& giver = *std::ranges::max_element(shares, {}, &Share::excess);
    Share& taker = *std::ranges::max_element(shares, {}, &Share::deficit);
    const Wide amount = std::min(giver.excess(), taker.deficit());
    CHECK(amount > 0);
    const TokenRange piece = take_front(largest_arc(arcs, giver.node), amount);
    CHECK(giver.owned >= width(piece));
    giver.owned -= width(piece);
    taker.owned += width(piece);
    cuts.push_back({.range = piece,
                    .node = taker.node,
                    .reason = "evened at creation",
                    .created = now,
                    .pinned_until = {}});
  }
  std::ranges::sort(cuts, {}, &Cut::range);
  CHECK(are_disjoint(cuts));
  return cuts;
}

}  // namespace cleave::ring
