// The base of a document: its nodes placed by its scheme, before any cut.
//
// Pure. Threads: any, read-only once made.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/document/document.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

struct BaseRing {
  std::shared_ptr<const Placement> placement;  // of the active nodes, in order of their ids
  std::vector<Arc> arcs;                       // its arcs with the document's ids
};

// Places the active nodes: by their hash key, or name, and weight; where a peer goes by position,
// the node of id i stands at i - 1, so that nobody changes place when another leaves. Errors:
// kInvalid and kExhausted as `place`; kInvalid also for a scheme that has a place only for keys of
// a special form. Cost: O(points log points).
Result<BaseRing> make_base(const Document& document);

// Whether both documents have the same base: the same scheme and active nodes.
bool same_base(const Document& left, const Document& right);

// Whether the ranges of the document can be cut and moved, and its nodes change: kConflict, and
// why, for a scheme whose tokens depend on the nodes.
Result<void> check_cuttable(const SchemeSpec& scheme, const Placement& placement);

}  // namespace cleave::ring
