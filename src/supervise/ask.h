// ask: one question to one redis-server over a connection of its own, blocking.
//
// For start-up, shut-down and adoption of child servers only, where waiting a moment is right; the
// data path has backend/pipe.h.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/loop.h"

namespace cleave::supervise {

// The strings of the answer in order: arrays are laid flat, integers are text, nil is empty.
// `address` must be numeric IPv4. Errors: kNotFound (nobody listens there), kUnavailable (closed
// without an answer), kTimeout, kInvalid (an error reply, whose text is the message; or not RESP).
Result<std::vector<std::string>> ask(const net::Address& address,
                                     const std::vector<std::string>& command, milliseconds timeout);

}  // namespace cleave::supervise
