// AUTH HELLO.
#include <string>

#include "base/to_number.h"
#include "proxy/answers/names.h"
#include "proxy/answers/registry.h"
#include "proxy/answers/server_commands.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using route::same_word;

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";

After say(std::string& out, std::string_view error, After after = After::kGoOn) {
  wire::append_error(out, error);
  return after;
}

// In a time that does not tell how much of it is right.
bool same_secret(std::string_view said, std::string_view wanted) {
  std::size_t wrong = said.size() ^ wanted.size();
  for (std::size_t i = 0; i < said.size(); ++i) {
    const char right = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    wrong |= static_cast<std::size_t>(said[i] != right);
  }
  return wrong == 0;
}

// The default user without a password takes any, as Redis's "nopass" does.
bool password_fits(std::string_view user, std::string_view password, const Ask& ask) {
  if (user != "default") return false;
  return ask.password.empty() || same_secret(password, ask.password);
}

After answer_auth(const Ask& ask, std::string& out) {
  if (ask.args.size() > 3) return say(out, "ERR syntax error");
  if (ask.password.empty() && ask.args.size() == 2) {
    return say(out,
               "ERR AUTH <password> called without any password configured for the default user. "
               "Are you sure your configuration is correct?");
  }
  const std::string_view user = ask.args.size() == 3 ? ask.args[1] : "default";
  if (!password_fits(user, ask.args.back(), ask)) return say(out, kWrongPassword);
  ask.client.authenticated = true;
  wire::append_status(out, "OK");
  return After::kGoOn;
}

void append_hello(const Ask& ask, std::string& out) {
  wire::append_array_header(out, 14);
  append_pair(out, "server", "redis");
  append_pair(out, "version", ask.commands.version());
  append_pair(out, "proto", 2);
  append_pair(out, "id", static_cast<std::int64_t>(ask.client.id));
  append_pair(out, "mode", "standalone");
  append_pair(out, "role", "master");
  wire::append_bulk(out, "modules");
  wire::append_array_header(out, 0);
}

// Why that version of the protocol is not to be had; empty: it is.
std::string_view version_refusal(std::span<const std::string_view> args) {
  if (args.size() < 2) return {};
  const auto version = to_number<std::int64_t>(args[1]);
  if (!version) return "ERR Protocol version is not an integer or out of range";
  return *version == 2 ? "" : "NOPROTO unsupported protocol version";
}

After answer_hello(const Ask& ask, std::string& out) {
  const auto args = ask.args;
  if (const std::string_view why = version_refusal(args); !why.empty()) {
    return say(out, why, After::kRefused);
  }
  std::string_view name = ask.client.name;
  bool authenticated = ask.client.authenticated;
  for (std::size_t i = 2; i < args.size();) {
    const std::size_t left = args.size() - i;
    if (same_word(args[i], "AUTH") && left >= 3) {
      if (!password_fits(args[i + 1], args[i + 2], ask)) return say(out, kWrongPassword);
      authenticated = true;
      i += 3;
    } else if (same_word(args[i], "SETNAME") && left >= 2) {
      name = args[i + 1];
      i += 2;
    } else {
      return say(out, "ERR Syntax error in HELLO option '" + std::string(args[i]) + "'");
    }
  }
  if (!authenticated) {
    return say(out,
               "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
               "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
               "select the RESP protocol version at the same time");
  }
  if (!is_clean_client_name(name)) return say(out, kBadClientName);
  ask.client.authenticated = true;
  ask.client.name = std::string(name);
  append_hello(ask, out);
  return After::kGoOn;
}

}  // namespace

constinit const Answer kAuthAnswer{
    .name = "auth",
    .handler = answer_auth,
    .syntax = "[username] password",
    .summary = "logs in with the password of the listener, as the user `default`",
    .needs_no_password = true,
};

constinit const Answer kHelloAnswer{
    .name = "hello",
    .handler = answer_hello,
    .syntax = "[2 [AUTH username password] [SETNAME clientname]]",
    .summary = "greets, and logs in; RESP2 only",
    .needs_no_password = true,
};

}  // namespace cleave::proxy
