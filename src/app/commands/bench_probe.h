// Whether a load generator could begin at all: one connection, one log-in, one PING. A generator
// goes on whatever happens; a person who typed a wrong port wants to know at once.
//
// Threads: the loop's.
#pragma once

#include <string>

#include "base/result.h"
#include "net/asio_loop.h"

namespace cleave::app {

// Runs the loop until there is an answer, at most about 5 s. Errors: kUnavailable, with the
// server's words.
Result<void> probe_for_load(net::AsioLoop& loop, const net::Address& address,
                            const std::string& password);

}  // namespace cleave::app
