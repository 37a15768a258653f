// Answer: one command that the router answers by itself, and all that is to be known of it.
//
// Pure: facts in, reply bytes out. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/limits.h"
#include "proxy/facts/client_facts.h"
#include "proxy/facts/process_facts.h"
#include "ring/view/view.h"
#include "route/command_table.h"

namespace cleave::proxy {

class ServerCommands;

// What an answer may look at, and change of its client. `args` fit the arity.
struct Ask {
  std::span<const std::string_view> args;
  const route::CommandSpec& spec;
  ClientFacts& client;
  const ServerCommands& commands;
  const ProcessFacts& process;
  const ring::RingView& view;
  const Limits& limits;
  std::string_view password;  // of clients; empty: none needed
  Instant now{0};
  UnixMillis wall{};
};

// What follows a reply.
enum class After : std::uint8_t {
  kGoOn,
  kRefused,  // the reply is an error by which the router refuses the command: it is counted
  kClose,    // the client, once it has read the reply
};

struct Answer {
  std::string_view name;  // lower case
  // Appends exactly one reply.
  After (*handler)(const Ask& ask, std::string& out) = nullptr;
  std::string_view syntax = {};  // behind the name, as Redis's help writes it
  std::string_view summary = {};

  // A client may use it before it has said the password.
  bool needs_no_password = false;
  // It is answered as ever after a MULTI that was refused.
  bool ends_multi = false;

  // ---- of commands that servers do not know ("cleave.…"), for COMMAND ---------------------------
  std::int32_t arity = 0;  // negative: at least that many, the name included
  std::uint32_t key = 0;   // position of its key; 0: none
  std::string_view flags = {};
  std::string_view categories = {};  // of ACLs
  std::string_view since = {};       // version of cleave

  bool is_ours() const { return name.starts_with("cleave."); }
};

}  // namespace cleave::proxy
