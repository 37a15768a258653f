// The parts of `validate` (document.h), for who has the base already, or a ring without a
// document. For the files of this folder.
#pragma once

#include "base/result.h"
#include "ring/document/document.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// All but the base. Cost: O(all of it).
Result<void> validate_fields(const Document& document);

// One rule for pools and for the library: an option's value is at most kOptionBytesMax bytes of
// UTF-8. Errors: kInvalid.
Result<void> check_option_values(const SchemeSpec& scheme);

// That the base carries the cuts and moves. Requires: valid fields; the placement of its base.
Result<void> validate_base(const Document& document, const Placement& placement);

}  // namespace cleave::ring
