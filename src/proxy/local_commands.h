// What the router answers by itself: PING ECHO SELECT QUIT COMMAND INFO CLIENT HELLO RESET TIME
// AUTH MULTI EXEC DISCARD.
//
// Pure: facts in, reply bytes out. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "proxy/client_facts.h"
#include "proxy/process_facts.h"
#include "proxy/server_commands.h"
#include "route/handling.h"

namespace cleave::proxy {

// What a local command may look at.
struct LocalContext {
  const ServerCommands& commands;
  const ProcessFacts& process;
  std::string_view password;  // of clients; empty: none needed
  std::uint64_t nodes = 0;
  std::uint64_t epoch = 0;
  Instant now{0};
  UnixMillis wall;
};

// What follows a MULTI is not executed either: a client that has sent a transaction in one piece
// would else find it carried out, but not as one.
inline constexpr std::string_view kMultiRefusedBefore =
    "ERR cleave: not executed: it belongs to a transaction, and those are not supported yet; EXEC "
    "or "
    "DISCARD ends it";

enum class AfterLocal : std::uint8_t { kGoOn, kClose };

// Appends exactly one reply. Requires: args as route::Router let them pass.
AfterLocal answer_local(route::Local what, std::span<const std::string_view> args,
                        ClientFacts& client, const LocalContext& context, std::string& out);

// Commands that a client may use before it has said the password.
bool needs_no_password(std::string_view name);

// The text of INFO with the sections named (all of them when none is).
std::string info_text(std::span<const std::string_view> sections, const LocalContext& context);

}  // namespace cleave::proxy
