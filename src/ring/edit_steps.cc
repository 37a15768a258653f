#include "ring/edit_steps.h"

#include <algorithm>

#include "ring/ownership.h"

namespace cleave::ring {

Document advanced(const Document& document) {
  Document next = document;
  next.epoch = Epoch{document.epoch.value() + 1};
  return next;
}

void abort_unfinished(Document& document) {
  std::erase_if(document.moves, [](const Move& move) { return move.phase != Phase::kClean; });
}

void keep_owners(const Document& before, Document& after, const std::string& reason,
                 UnixMillis now) {
  // Tokens under a cut have the same owner in both, so no change touches an existing cut.
  for (const Change& change : differences(owners(before), owners(after))) {
    after.cuts.push_back({.range = change.range,
                          .node = change.from,
                          .reason = reason,
                          .created = now,
                          .pinned_until = {}});
  }
  std::ranges::sort(after.cuts, {}, &Cut::range);
}

std::string describe(const Document& document, NodeId node) {
  const Node* found = find_node(document, node);
  return found == nullptr ? "node " + std::to_string(node.value()) : "node '" + found->name + "'";
}

}  // namespace cleave::ring
