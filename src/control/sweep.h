// Sweep (protocol rule 7): ends the connections of sessions that the document does not show any
// more, at one server, so that none of their commands can run later.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "backend/redis_store.h"
#include "base/result.h"
#include "control/document_writer.h"

namespace cleave::control {

// The name under which connections of a session are known to servers: "cleave:<session>".
std::string connection_name(const SessionId& session);

// The session of a leader's term: what its driver's connections are named after.
SessionId driver_session(const SessionId& router, Term term);

// CLIENT LIST; then a linearizable read; CLIENT KILL ID for each connection of ours whose session
// the read does not show; and again until none is left. The order matters: a list that is older
// than the read cannot hold a connection whose session joined meanwhile and is shown.
// Errors: the server's, the coordinator's; kUnavailable when 10 passes were not enough.
void sweep(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done);

// The names of the connections whose sessions the document shows: its routers and its leader's
// driver.
std::set<std::string, std::less<>> shown_names(const ring::Document& document);

// The ids of connections in a CLIENT LIST reply that are named after a session not in `shown`.
std::vector<std::string> strangers(std::string_view client_list,
                                   const std::set<std::string, std::less<>>& shown);

}  // namespace cleave::control
