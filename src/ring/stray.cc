#include "ring/stray.h"

#include <algorithm>

namespace cleave::ring {

bool is_stray(const RingView& view, NodeId node, Token token) {
  if (view.owner(token) == node) return false;
  const Document& document = view.document();
  return std::ranges::none_of(document.moves, [&](const Move& move) {
    return (move.source == node || move.destination == node) && contains(move.ranges, token);
  });
}

}  // namespace cleave::ring
