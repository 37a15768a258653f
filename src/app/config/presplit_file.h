// The file of `cleave presplit`: events with the load that they will bring
// (docs/formats/presplit.md).
//
// Pure, but for `load_presplit`. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "app/admin_client.h"
#include "base/clock.h"
#include "base/result.h"

namespace cleave::app {

// The list `events` of POST /presplit. `now` is what "now" and "+2h" mean. Errors: kInvalid, one
// line: "FILE:LINE:COLUMN: KEY: what is wrong".
Result<Json> parse_presplit(std::string_view text, const std::string& file, UnixMillis now);

// Errors also: kNotFound when the file cannot be read.
Result<Json> load_presplit(const std::string& file, UnixMillis now);

}  // namespace cleave::app
