// CLEAVE.HELP: what the router answers by itself.
#include <string>

#include "proxy/answers/registry.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

// As Redis writes its own: a line with the syntax, one with what it does.
After answer_help(const Ask& /*ask*/, std::string& out) {
  wire::append_array_header(out, 2 * kAnswers.size());
  for (const Answer* answer : kAnswers) {
    wire::append_status(out, usage(*answer));
    wire::append_status(out, "    " + std::string(answer->summary));
  }
  return After::kGoOn;
}

}  // namespace

constinit const Answer kCleaveHelpAnswer{
    .name = "cleave.help",
    .handler = answer_help,
    .summary = "these lines",
    .arity = 1,
    .flags = "loading stale fast",
    .categories = "fast connection",
    .since = "0.1.0",
};

}  // namespace cleave::proxy
