#include "ring/view/stray.h"

#include <algorithm>

namespace cleave::ring {

bool is_stray(const RingView& view, NodeId node, Token token) {
  if (view.owner(token) == node) return false;
  const Document& document = view.document();
  // Copies of cleave's own may lie there: the cleaning takes them, or a person decides.
  for (const Leftover& leftover : document.leftovers) {
    if (leftover.node == node && contains(leftover.ranges, token)) return false;
  }
  return std::ranges::none_of(document.moves, [&](const Move& move) {
    return (move.source == node || move.destination == node) && contains(move.ranges, token);
  });
}

}  // namespace cleave::ring
