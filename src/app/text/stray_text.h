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

// A scheme that finds the keys (`fits`), with the line for the configuration.
std::string fit_text(const Json& fit);

// What scripts must do so that no key is lost to a router.
std::string script_rule();
// "scripts or functions were run here since the server's start: eval 120 times"; empty: none were.
std::string scripts_text(const Json& scripts);

}  // namespace cleave::app
