#include "proxy/local_commands.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using Args = std::span<const std::string_view>;
using route::same_word;

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";

constexpr std::string_view kBadName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

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
bool password_fits(std::string_view user, std::string_view password, const LocalContext& context) {
  if (user != "default") return false;
  return context.password.empty() || same_secret(password, context.password);
}

void answer_auth(Args args, ClientFacts& client, const LocalContext& context, std::string& out) {
  if (args.size() > 3) return wire::append_error(out, "ERR syntax error");
  if (context.password.empty() && args.size() == 2) {
    return wire::append_error(out,
                              "ERR AUTH <password> called without any password configured for the "
                              "default user. Are you sure your configuration is correct?");
  }
  const std::string_view user = args.size() == 3 ? args[1] : "default";
  if (!password_fits(user, args.back(), context)) return wire::append_error(out, kWrongPassword);
  client.authenticated = true;
  wire::append_status(out, "OK");
}

bool is_clean_name(std::string_view name) {
  return std::ranges::all_of(name, [](char letter) { return letter >= '!' && letter <= '~'; });
}

void append_hello(const ClientFacts& client, const LocalContext& context, std::string& out) {
  wire::append_array_header(out, 14);
  wire::append_bulk(out, "server");
  wire::append_bulk(out, "redis");
  wire::append_bulk(out, "version");
  wire::append_bulk(out, context.commands.version());
  wire::append_bulk(out, "proto");
  wire::append_integer(out, 2);
  wire::append_bulk(out, "id");
  wire::append_integer(out, static_cast<std::int64_t>(client.id));
  wire::append_bulk(out, "mode");
  wire::append_bulk(out, "standalone");
  wire::append_bulk(out, "role");
  wire::append_bulk(out, "master");
  wire::append_bulk(out, "modules");
  wire::append_array_header(out, 0);
}

// HELLO [2 [AUTH user password] [SETNAME name]]
void answer_hello(Args args, ClientFacts& client, const LocalContext& context, std::string& out) {
  std::string_view name = client.name;
  bool authenticated = client.authenticated;
  for (std::size_t i = 2; i < args.size();) {
    const std::size_t left = args.size() - i;
    if (same_word(args[i], "AUTH") && left >= 3) {
      if (!password_fits(args[i + 1], args[i + 2], context)) {
        return wire::append_error(out, kWrongPassword);
      }
      authenticated = true;
      i += 3;
    } else if (same_word(args[i], "SETNAME") && left >= 2) {
      name = args[i + 1];
      i += 2;
    } else {
      return wire::append_error(out,
                                "ERR Syntax error in HELLO option '" + std::string(args[i]) + "'");
    }
  }
  if (!authenticated) {
    return wire::append_error(
        out,
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (!is_clean_name(name)) return wire::append_error(out, kBadName);
  client.authenticated = true;
  client.name = std::string(name);
  append_hello(client, context, out);
}

// One line as CLIENT LIST has it.
std::string describe(const ClientFacts& client, const LocalContext& context) {
  const auto age = std::chrono::duration_cast<seconds>(context.now - client.since).count();
  return "id=" + std::to_string(client.id) + " addr=" + client.peer + " name=" + client.name +
         " age=" + std::to_string(age) + " idle=0 flags=N db=0 cmd=client user=default resp=2\n";
}

constexpr std::string_view kSyntax = "ERR syntax error";

// CLIENT LIST [TYPE type | ID id ...]: a client sees itself.
void answer_client_list(Args args, const ClientFacts& client, const LocalContext& context,
                        std::string& out) {
  const auto names_own_id = [&](std::string_view id) { return id == std::to_string(client.id); };
  if (args.size() == 2) return wire::append_bulk(out, describe(client, context));
  if (args.size() == 4 && same_word(args[2], "TYPE")) {
    constexpr std::array<std::string_view, 4> kOthers{"master", "replica", "slave", "pubsub"};
    if (same_word(args[3], "normal")) return wire::append_bulk(out, describe(client, context));
    if (std::ranges::any_of(kOthers, [&](auto type) { return same_word(args[3], type); })) {
      return wire::append_bulk(out, "");
    }
    return wire::append_error(out, "ERR Unknown client type '" + std::string(args[3]) + "'");
  }
  if (args.size() < 4 || !same_word(args[2], "ID")) return wire::append_error(out, kSyntax);
  const bool listed = std::ranges::any_of(args.subspan(3), names_own_id);
  wire::append_bulk(out, listed ? describe(client, context) : "");
}

void answer_client(Args args, ClientFacts& client, const LocalContext& context, std::string& out) {
  const std::string_view what = args[1];
  if (same_word(what, "ID")) {
    wire::append_integer(out, static_cast<std::int64_t>(client.id));
  } else if (same_word(what, "GETNAME")) {
    wire::append_bulk(out, client.name);
  } else if (same_word(what, "SETNAME") && args.size() == 3) {
    if (!is_clean_name(args[2])) {
      return wire::append_error(out, kBadName);
    }
    client.name = std::string(args[2]);
    wire::append_status(out, "OK");
  } else if (same_word(what, "LIST")) {
    answer_client_list(args, client, context, out);
  } else if (same_word(what, "INFO")) {
    wire::append_bulk(out, describe(client, context));
  } else {
    wire::append_status(out, "OK");  // SETINFO: what a library says of itself
  }
}

void answer_time(const LocalContext& context, std::string& out) {
  const std::int64_t millis = context.wall.value();
  wire::append_array_header(out, 2);
  wire::append_bulk(out, std::to_string(millis / 1'000));
  wire::append_bulk(out, std::to_string(millis % 1'000 * 1'000));
}

void answer_ping(Args args, std::string& out) {
  if (args.size() > 2) {
    return wire::append_error(out, "ERR wrong number of arguments for 'ping' command");
  }
  if (args.size() == 2) return wire::append_bulk(out, args[1]);
  wire::append_status(out, "PONG");
}

void answer_multi(ClientFacts& client, std::string& out) {
  if (std::exchange(client.multi_refused, true)) {
    return wire::append_error(out, "ERR MULTI calls can not be nested");
  }
  wire::append_error(out,
                     "ERR 'multi' is not supported: transactions do not pass through the router "
                     "yet, so nothing up to EXEC or DISCARD is executed; a script (EVAL) over keys "
                     "of one {hash tag} is as atomic");
}

void answer_exec(ClientFacts& client, std::string& out) {
  const bool open = std::exchange(client.multi_refused, false);
  wire::append_error(out, open ? "EXECABORT Transaction discarded because of previous errors."
                               : "ERR EXEC without MULTI");
}

void answer_discard(ClientFacts& client, std::string& out) {
  if (std::exchange(client.multi_refused, false)) return wire::append_status(out, "OK");
  wire::append_error(out, "ERR DISCARD without MULTI");
}

}  // namespace

AfterLocal answer_local(route::Local what, Args args, ClientFacts& client,
                        const LocalContext& context, std::string& out) {
  switch (what) {
    case route::Local::kPing: answer_ping(args, out); break;
    case route::Local::kEcho: wire::append_bulk(out, args[1]); break;
    case route::Local::kSelect: wire::append_status(out, "OK"); break;
    case route::Local::kQuit: wire::append_status(out, "OK"); return AfterLocal::kClose;
    case route::Local::kCommand: context.commands.answer(args, out); break;
    case route::Local::kInfo: wire::append_bulk(out, info_text(args.subspan(1), context)); break;
    case route::Local::kClient: answer_client(args, client, context, out); break;
    case route::Local::kHello: answer_hello(args, client, context, out); break;
    case route::Local::kReset:
      client.name.clear();
      client.multi_refused = false;
      client.authenticated = context.password.empty();
      wire::append_status(out, "RESET");
      break;
    case route::Local::kTime: answer_time(context, out); break;
    case route::Local::kMulti: answer_multi(client, out); break;
    case route::Local::kExec: answer_exec(client, out); break;
    case route::Local::kDiscard: answer_discard(client, out); break;
    case route::Local::kAuth: answer_auth(args, client, context, out); break;
  }
  return AfterLocal::kGoOn;
}

bool needs_no_password(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOpen{"AUTH", "HELLO", "QUIT", "RESET"};
  return std::ranges::any_of(kOpen, [&](std::string_view open) { return same_word(open, name); });
}

}  // namespace cleave::proxy
