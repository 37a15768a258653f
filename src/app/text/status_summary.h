// What a router says of its ring by GET /status (docs/formats/admin-api.md), read in one place.
//
// Threads: any.
#pragma once

#include <string>

#include "app/admin_client.h"
#include "base/result.h"
#include "convert/pool/ring_summary.h"

namespace cleave::app {

// The same as `summary_of` of the document that the router follows, but for the moves, which are
// those that it knows to be under way. Errors: kUnavailable when it has no ring yet; kInvalid for
// what no router says.
Result<convert::RingSummary> summary_of(const Json& status);

// kInvalid, for an answer that no router gives.
std::unexpected<Error> not_understood(const std::string& what);

}  // namespace cleave::app
