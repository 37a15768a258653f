// CLIENT: a client sees itself.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "proxy/answers/names.h"
#include "proxy/answers/registry.h"
#include "route/refusals.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using Args = std::span<const std::string_view>;
using route::same_word;

constexpr std::string_view kSyntax = "ERR syntax error";

// One line as CLIENT LIST has it.
std::string describe(const Ask& ask) {
  const ClientFacts& client = ask.client;
  const auto age = std::chrono::duration_cast<seconds>(ask.now - client.since).count();
  return "id=" + std::to_string(client.id) + " addr=" + client.peer + " name=" + client.name +
         " age=" + std::to_string(age) + " idle=0 flags=N db=0 cmd=client user=default resp=2\n";
}

// CLIENT LIST [TYPE type | ID id ...]
void append_list(const Ask& ask, std::string& out) {
  const Args args = ask.args;
  const auto names_own_id = [&](auto id) { return id == std::to_string(ask.client.id); };
  if (args.size() == 2) return wire::append_bulk(out, describe(ask));
  if (args.size() == 4 && same_word(args[2], "TYPE")) {
    constexpr std::array<std::string_view, 4> kOthers{"master", "replica", "slave", "pubsub"};
    if (same_word(args[3], "normal")) return wire::append_bulk(out, describe(ask));
    if (std::ranges::any_of(kOthers, [&](auto type) { return same_word(args[3], type); })) {
      return wire::append_bulk(out, "");
    }
    return wire::append_error(out, "ERR Unknown client type '" + std::string(args[3]) + "'");
  }
  if (args.size() < 4 || !same_word(args[2], "ID")) return wire::append_error(out, kSyntax);
  const bool listed = std::ranges::any_of(args.subspan(3), names_own_id);
  wire::append_bulk(out, listed ? describe(ask) : "");
}

std::string refusal(const Ask& ask) {
  // The container's own specification is found where the second word is not a subcommand's name.
  const bool unknown = !ask.spec.subcommands.empty() && ask.args.size() > 1;
  if (unknown) return route::unknown_subcommand(ask.args);
  return route::not_supported(ask.spec, "connections to the servers are shared by many clients");
}

After answer_client(const Ask& ask, std::string& out) {
  const std::string_view what = ask.args[1];
  if (same_word(what, "ID")) {
    wire::append_integer(out, static_cast<std::int64_t>(ask.client.id));
  } else if (same_word(what, "GETNAME")) {
    wire::append_bulk(out, ask.client.name);
  } else if (same_word(what, "SETNAME")) {
    if (ask.args.size() == 3 && !is_clean_client_name(ask.args[2])) {
      wire::append_error(out, kBadClientName);
      return After::kGoOn;
    }
    if (ask.args.size() == 3) ask.client.name = std::string(ask.args[2]);
    wire::append_status(out, "OK");
  } else if (same_word(what, "LIST")) {
    append_list(ask, out);
  } else if (same_word(what, "INFO")) {
    wire::append_bulk(out, describe(ask));
  } else if (same_word(what, "SETINFO")) {
    // Newer than Redis 7.0, but client libraries send it to whatever they find.
    wire::append_status(out, "OK");
  } else {
    wire::append_error(out, refusal(ask));
    return After::kRefused;
  }
  return After::kGoOn;
}

}  // namespace

constinit const Answer kClientAnswer{
    .name = "client",
    .handler = answer_client,
    .syntax = "ID | INFO | LIST | GETNAME | SETNAME name | SETINFO attribute value",
    .summary = "of this connection to the router; a client sees itself only",
};

}  // namespace cleave::proxy
