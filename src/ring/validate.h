// The parts of `validate` (ring/document.h), for who has the base already. For the files of this
// folder.
#pragma once

#include "base/result.h"
#include "ring/document.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// All but the base. Cost: O(all of it).
Result<void> validate_fields(const Document& document);

// That the base carries the cuts and moves. Requires: valid fields; the placement of its base.
Result<void> validate_base(const Document& document, const Placement& placement);

}  // namespace cleave::ring
