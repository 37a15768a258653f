// What is known of a node's strays, as a sentence for people: from the JSON that a router gives.
//
// Threads: any.
#pragma once

#include <string>

#include "app/admin_client.h"

namespace cleave::app {

// "2,006 of 3,000 keys (66.87 %) are not where the ring looks, e.g. "key:1" (it looks at b)";
// `strays` as in `nodes[].strays` of GET /status (docs/formats/admin-api.md).
std::string stray_text(const Json& strays);

}  // namespace cleave::app
