#include "ring/restored.h"

#include <algorithm>
#include <utility>

namespace cleave::ring {

Result<RestoredDocument> restored(const Document& saved, const Restoration& restoration) {
  RestoredDocument next;
  // Field by field: what is not named here is not believed unseen.
  Document& document = next.document;
  document.epoch = Epoch{std::max(saved.epoch, restoration.above).value() + 1};
  document.pool = restoration.pool;
  document.mark = saved.mark;
  document.scheme = saved.scheme;
  document.nodes = saved.nodes;
  document.next_node = saved.next_node;
  document.cuts = saved.cuts;
  document.leader.term = saved.leader.term;
  document.mode = saved.mode;
  document.frozen = true;
  document.expected = saved.expected;
  for (const Move& move : saved.moves) {
    const NodeId node = move.phase == Phase::kClean ? move.source : move.destination;
    next.copies.push_back({.node = node, .ranges = move.ranges});
  }
  if (const Result<void> valid = validate(document); !valid) return fail("restore", valid.error());
  return next;
}

}  // namespace cleave::ring
