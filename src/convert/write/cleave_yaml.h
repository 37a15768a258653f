// Writes an imported pool as cleave's own configuration (docs/formats/config.md).
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "convert/read/import.h"

namespace cleave::convert {

// The whole file, in observe mode: it only tells, and moves nothing. Remarks are comments. `source`
// is the name of the peer's file, for the first comment. Errors: kInvalid, names the node, when the
// file said no address of it; for a text that YAML cannot say.
Result<std::string> to_cleave_yaml(const Imported& imported, std::string_view source);

// Whether the texts can be written that the readers do not check: passwords, users and options of
// the scheme. YAML is UTF-8. Errors: kInvalid, says which cannot.
Result<void> check_sayable(const Pool& pool);

// The text as a YAML scalar that is read back as itself: quoted where it has to be.
std::string yaml_scalar(std::string_view text);

// Always quoted. Bytes that are not UTF-8 become U+FFFD.
std::string yaml_quoted(std::string_view text);

}  // namespace cleave::convert
