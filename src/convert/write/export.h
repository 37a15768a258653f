// Export: a pool as the configuration of another proxy, the way back (docs/formats/peers.md).
//
// Only a ring without cuts can be told to another proxy, and only one that places keys as that
// proxy does. What comes out is a whole configuration that the peer starts with; read back by
// import.h it is the same pool.
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "convert/pool/pool.h"
#include "convert/pool/ring_summary.h"

namespace cleave::convert {

// Whether nothing stands in the way. Errors: kConflict, says what to do first: `flatten`, or wait.
Result<void> check_exportable(const RingSummary& ring);

// Errors: kInvalid: the scheme is not of that peer (names those that have it), or the peer cannot
// say a name, weight, address or password of the pool.
Result<std::string> export_pool(Peer peer, const Pool& pool);

}  // namespace cleave::convert
