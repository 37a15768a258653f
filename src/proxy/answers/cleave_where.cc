// CLEAVE.WHERE key: where a key is, and whether it is on its way.
#include <string>

#include "base/check.h"
#include "proxy/answers/registry.h"
#include "ring/token_range.h"
#include "route/refusals.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

// A move that has committed and is only cleaned is over for whoever asks.
const ring::Move* move_of(const ring::RingView& view, Token token) {
  const ring::Move* const move = view.move_at(token);
  return move == nullptr || move->phase == ring::Phase::kClean ? nullptr : move;
}

After answer_where(const Ask& ask, std::string& out) {
  const std::string_view key = ask.args[1];
  if (const std::string why = route::key_refusal(key, ask.limits); !why.empty()) {
    wire::append_error(out, why);
    return After::kRefused;
  }
  const ring::Document& document = ask.view.document();
  const Token token = ask.view.token_of(key);
  const ring::Entry& entry = ask.view.entry(ask.view.find(token));
  const ring::Node* const owner = ring::find_node(document, entry.node);
  CHECK(owner != nullptr);
  const ring::Move* const move = move_of(ask.view, token);
  const ring::Node* const to =
      move == nullptr ? nullptr : ring::find_node(document, move->destination);
  wire::append_array_header(out, 14);
  append_pair(out, "token", ring::to_hex(token));
  append_pair(out, "range", ring::to_string(entry.range));
  append_pair(out, "owner", owner->name);
  append_pair(out, "address", owner->members.front().address);
  append_pair(out, "epoch", static_cast<std::int64_t>(document.epoch.value()));
  append_pair(out, "moving",
              move == nullptr                       ? "no"
              : move->phase == ring::Phase::kFenced ? "fenced"
                                                    : "copying");
  append_pair(out, "to", to == nullptr ? "" : std::string_view(to->name));
  return After::kGoOn;
}

}  // namespace

constinit const Answer kCleaveWhereAnswer{
    .name = "cleave.where",
    .handler = answer_where,
    .syntax = "key",
    .summary =
        "where the key is: token, range, owner, address, epoch of the router's view, moving "
        "(`no`, `copying` or `fenced`: held for some milliseconds), to (node)",
    .arity = 2,
    .key = 1,
    .flags = "readonly loading stale fast",
    .categories = "keyspace read fast",
    .since = "0.1.0",
};

}  // namespace cleave::proxy
