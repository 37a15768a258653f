#include "ring/placed/two_choices.h"

#include "base/rng.h"
#include "base/wide.h"

namespace cleave::ring {

Result<TwoChoices> TwoChoices::build(std::span<const Arc> arcs,
                                     std::span<const WeightedNode> nodes) {
  auto walk = ArcWalk::build(arcs, ids_of(nodes));
  if (!walk) return std::unexpected(walk.error());
  auto loads = NodeLoads::build(*walk, nodes);
  if (!loads) return std::unexpected(loads.error());
  return TwoChoices(std::move(*walk), std::move(*loads));
}

TwoChoices::Places TwoChoices::places(Token token) const {
  const std::uint32_t first = walk_.place(walk_.find(token));
  const std::uint32_t start = walk_.find(Token{Rng(token.value()).next()});
  std::uint32_t arc = start;
  while (walk_.place(arc) == first) {
    arc = walk_.clockwise(arc);
    if (arc == start) break;
  }
  return {first, walk_.place(arc)};
}

NodeChoices TwoChoices::choices(Token token) const {
  const Places both = places(token);
  return {loads_.node(both.first), loads_.node(both.second)};
}

NodeId TwoChoices::acquire(Token token) {
  const auto [first, second] = places(token);
  // Fractions (load + 1) / weight, compared without a division.
  const Wide with_first = Wide{loads_.load(first) + 1} * loads_.weight(second);
  const Wide with_second = Wide{loads_.load(second) + 1} * loads_.weight(first);
  const std::uint32_t chosen = with_first <= with_second ? first : second;
  loads_.add(chosen);
  return loads_.node(chosen);
}

}  // namespace cleave::ring
