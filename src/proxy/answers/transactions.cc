// MULTI EXEC DISCARD: refused. What follows a MULTI is not executed either: a client that has sent
// a transaction in one piece would else find it carried out, but not as one.
#include <utility>

#include "proxy/answers/registry.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

After answer_multi(const Ask& ask, std::string& out) {
  const bool open = std::exchange(ask.client.multi_refused, true);
  wire::append_error(out, open ? "ERR MULTI calls can not be nested"
                               : "ERR 'multi' is not supported: transactions do not pass through "
                                 "the router yet, so nothing up to EXEC or DISCARD is executed; a "
                                 "script (EVAL) over keys of one {hash tag} is as atomic");
  return After::kGoOn;
}

After answer_exec(const Ask& ask, std::string& out) {
  const bool open = std::exchange(ask.client.multi_refused, false);
  wire::append_error(out, open ? "EXECABORT Transaction discarded because of previous errors."
                               : "ERR EXEC without MULTI");
  return After::kGoOn;
}

After answer_discard(const Ask& ask, std::string& out) {
  if (std::exchange(ask.client.multi_refused, false)) {
    wire::append_status(out, "OK");
  } else {
    wire::append_error(out, "ERR DISCARD without MULTI");
  }
  return After::kGoOn;
}

}  // namespace

constinit const Answer kMultiAnswer{
    .name = "multi",
    .handler = answer_multi,
    .summary =
        "refused: transactions do not pass through the router yet; nothing up to `EXEC` or "
        "`DISCARD` is executed",
    .ends_multi = true,
};

constinit const Answer kExecAnswer{
    .name = "exec",
    .handler = answer_exec,
    .summary = "`EXECABORT` behind a `MULTI`, which was refused",
    .ends_multi = true,
};

constinit const Answer kDiscardAnswer{
    .name = "discard",
    .handler = answer_discard,
    .summary = "ends a refused `MULTI`",
    .ends_multi = true,
};

}  // namespace cleave::proxy
