// Greeting: what a new connection says first (protocol rule 5), and what the server answers.
//
// Pure: bytes in, values out. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend/pipe.h"
#include "base/ids.h"
#include "base/result.h"
#include "wire/resp.h"

namespace cleave::backend {

// Commands sent in one piece and the number of replies they give.
struct Greeting {
  std::string bytes;
  std::size_t replies = 0;
};

// [AUTH,] CLIENT SETNAME cleave:<session>, CLIENT ID, INFO server, INFO replication.
Greeting greeting(const Credentials& credentials, const SessionId& session);

// Who answered. Errors: kUnavailable with the server's own words, when it refused a command or left
// out what is needed. Requires: as many replies as `greeting` asked for.
Result<Identity> identity_of(std::span<const wire::Reply> replies);

// Errors: kUnavailable for a server in cluster mode, by its INFO server: it places keys itself, and
// refuses those that its slots are not for.
Result<void> check_mode(std::string_view info_server);

// Rule 6: ends the connection with that id; the reply is :1 or :0 once it is gone.
std::string kill_command(std::uint64_t connection_id);

}  // namespace cleave::backend
