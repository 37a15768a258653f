// What servers know our connections as: each is named after the session that opened it, so that
// those of sessions which the document does not show any more can be ended (protocol rule 7).
//
// Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ring/document/document.h"

namespace cleave::control {

// The name under which connections of a session are known to servers: "cleave:<session>".
std::string connection_name(const SessionId& session);

// The session of a leader's term: what its driver's connections are named after.
SessionId driver_session(const SessionId& router, Term term);

// The names of the connections whose sessions the document shows: its routers and its leader's
// driver.
std::set<std::string, std::less<>> shown_names(const ring::Document& document);

// The ids of connections in a CLIENT LIST reply that are named after a session not in `shown`.
std::vector<std::string> strangers(std::string_view client_list,
                                   const std::set<std::string, std::less<>>& shown);

}  // namespace cleave::control
