// A ring as `cleave ring show` shows it: placed by a scheme, or that of a running router.
//
// Threads: the main thread.
#pragma once

#include <string>
#include <vector>

#include "app/admin_client.h"
#include "app/config/ring_arguments.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/placed/placement_shares.h"

namespace cleave::app {

struct ShownRing {
  ring::SchemeSpec spec;
  std::vector<ring::PlacedNode> nodes;
  std::vector<ring::Arc> arcs;  // NodeId{i + 1} is nodes[i]
  std::vector<ring::NodeShare> shares;
};

ShownRing shown_ring(const PlacedRing& placed);

// Of what the router's /status and /ring say (docs/formats/admin-api.md), cuts included: who owns
// the tokens now. Errors: kConflict when the two are not of one ring (it changed in between);
// kInvalid for what a router does not say; kUnavailable when it has no ring yet.
Result<ShownRing> shown_ring(const Json& status, const Json& ring);

}  // namespace cleave::app
