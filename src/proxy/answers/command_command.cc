// COMMAND: the servers' own table, and our commands.
#include "proxy/answers/registry.h"
#include "proxy/answers/server_commands.h"
#include "route/refusals.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

After answer_command(const Ask& ask, std::string& out) {
  // The container's own specification is found where the second word is not a subcommand's name.
  if (!ask.spec.subcommands.empty() && ask.args.size() > 1) {
    wire::append_error(out, route::unknown_subcommand(ask.args));
    return After::kRefused;
  }
  ask.commands.answer(ask.args, out);
  return After::kGoOn;
}

}  // namespace

constinit const Answer kCommandAnswer{
    .name = "command",
    .handler = answer_command,
    .syntax = "[COUNT | LIST | INFO [name ...] | DOCS [name ...] | GETKEYS command [arg ...]]",
    .summary = "the servers' own table, and the router's commands; `DOCS` of those only",
};

}  // namespace cleave::proxy
