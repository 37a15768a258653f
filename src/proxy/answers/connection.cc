// PING ECHO SELECT QUIT RESET.
#include <optional>
#include <string>

#include "base/to_number.h"
#include "proxy/answers/registry.h"
#include "route/refusals.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

After answer_ping(const Ask& ask, std::string& out) {
  if (ask.args.size() > 2) {
    wire::append_error(out, "ERR wrong number of arguments for 'ping' command");
  } else if (ask.args.size() == 2) {
    wire::append_bulk(out, ask.args[1]);
  } else {
    wire::append_status(out, "PONG");
  }
  return After::kGoOn;
}

After answer_echo(const Ask& ask, std::string& out) {
  wire::append_bulk(out, ask.args[1]);
  return After::kGoOn;
}

After answer_select(const Ask& ask, std::string& out) {
  const std::optional<std::int64_t> database = to_number<std::int64_t>(ask.args[1]);
  if (database == 0) {
    wire::append_status(out, "OK");
    return After::kGoOn;
  }
  wire::append_error(out, database ? route::not_supported(ask.spec, "there is only database 0")
                                   : "ERR value is not an integer or out of range");
  return After::kRefused;
}

After answer_quit(const Ask& /*ask*/, std::string& out) {
  wire::append_status(out, "OK");
  return After::kClose;
}

After answer_reset(const Ask& ask, std::string& out) {
  ask.client.name.clear();
  ask.client.multi_refused = false;
  ask.client.authenticated = ask.password.empty();
  wire::append_status(out, "RESET");
  return After::kGoOn;
}

}  // namespace

constinit const Answer kPingAnswer{
    .name = "ping",
    .handler = answer_ping,
    .syntax = "[message]",
    .summary = "PONG, or the message: of the router, no server is asked",
};

constinit const Answer kEchoAnswer{
    .name = "echo",
    .handler = answer_echo,
    .syntax = "message",
    .summary = "the message",
};

constinit const Answer kSelectAnswer{
    .name = "select",
    .handler = answer_select,
    .syntax = "index",
    .summary = "OK for 0, the only database",
};

constinit const Answer kQuitAnswer{
    .name = "quit",
    .handler = answer_quit,
    .summary = "OK; the connection is closed",
    .needs_no_password = true,
    .ends_multi = true,
};

constinit const Answer kResetAnswer{
    .name = "reset",
    .handler = answer_reset,
    .summary = "RESET; the connection is as new",
    .needs_no_password = true,
    .ends_multi = true,
};

}  // namespace cleave::proxy
