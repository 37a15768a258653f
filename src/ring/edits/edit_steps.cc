#include "ring/edits/edit_steps.h"

#include <algorithm>

#include "base/check.h"
#include "ring/canonical.h"
#include "ring/document/base_ring.h"
#include "ring/edits/move_steps.h"
#include "ring/view/ownership.h"
#include "ring/vnode.h"

namespace cleave::ring {

Document advanced(const Document& document) {
  Document next = document;
  next.epoch = Epoch{document.epoch.value() + 1};
  // Rule 21: what a leader of an older version had committed and not yet cleaned.
  if (old_reader(document) != nullptr) return next;
  for (const Move& move : document.moves) {
    if (move.phase != Phase::kClean) continue;
    insert(next.leftovers,
           {.move = move.id, .node = move.source, .ranges = move.ranges, .since = move.started});
  }
  std::erase_if(next.moves, [](const Move& move) { return move.phase == Phase::kClean; });
  return next;
}

void abort_unfinished(Document& document) {
  std::erase_if(document.moves, [](const Move& move) { return move.phase != Phase::kClean; });
}

void keep_owners(const Document& before, Document& after, const std::string& reason,
                 UnixMillis now) {
  // Tokens under a cut have the same owner in both, so no change touches an existing cut.
  const std::vector<Arc> wanted = owners(before);
  const std::vector<Arc> base = base_of(after);
  for (const Change& change : differences(wanted, owners(overlay(base, after.cuts)))) {
    after.cuts.push_back({.range = change.range,
                          .node = change.from,
                          .reason = reason,
                          .created = now,
                          .pinned_until = {}});
  }
  std::ranges::sort(after.cuts, {}, &Cut::range);
  CHECK(are_disjoint(after.cuts));
  CHECK(owners(overlay(base, after.cuts)) == wanted);  // nobody's keys are elsewhere now
}

Result<void> check_cuttable(const Document& document, const std::string& what) {
  if (document.scheme.name == kVnodeScheme) return {};
  const Result<BaseRing> base = make_base(document);
  CHECK(base);
  const Result<void> cuttable = check_cuttable(document.scheme, *base->placement);
  return cuttable ? cuttable : fail(what, cuttable.error());
}

std::string describe(const Document& document, NodeId node) {
  const Node* found = find_node(document, node);
  return found == nullptr ? "node " + std::to_string(node.value()) : "node '" + found->name + "'";
}

}  // namespace cleave::ring
