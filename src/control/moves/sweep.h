// Sweep (protocol rule 7): ends the connections of sessions that the document does not show any
// more, at one server, so that none of their commands can run later.
#pragma once

#include <functional>
#include <memory>

#include "backend/redis_store.h"
#include "base/result.h"
#include "control/document/document_writer.h"

namespace cleave::control {

// CLIENT LIST; then a linearizable read; CLIENT KILL ID for each connection of ours whose session
// the read does not show; and again until none is left. The order matters: a list that is older
// than the read cannot hold a connection whose session joined meanwhile and is shown.
// Errors: the server's, the coordinator's; kUnavailable when 10 passes were not enough.
void sweep(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done);

}  // namespace cleave::control
