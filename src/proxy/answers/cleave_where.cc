// CLEAVE.WHERE key: where a key is, and whether it is on its way.
#include <string>

#include "base/check.h"
#include "proxy/answers/registry.h"
#include "ring/token_range.h"
#include "route/refusals.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

void append_field(std::string& out, std::string_view name, std::string_view value) {
  wire::append_bulk(out, name);
  wire::append_bulk(out, value);
}

const ring::Move* move_of(const ring::RingView& view, const ring::Entry& entry) {
  if (entry.move == ring::kNone) return nullptr;
  const ring::Move& move = view.document().moves[entry.move];
  return move.phase == ring::Phase::kClean ? nullptr : &move;
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
  const ring::Move* const move = move_of(ask.view, entry);
  const ring::Node* const to =
      move == nullptr ? nullptr : ring::find_node(document, move->destination);
  wire::append_array_header(out, 14);
  append_field(out, "token", ring::to_hex(token));
  append_field(out, "range", ring::to_string(entry.range));
  append_field(out, "owner", owner->name);
  append_field(out, "address", owner->members.front().address);
  wire::append_bulk(out, "epoch");
  wire::append_integer(out, static_cast<std::int64_t>(document.epoch.value()));
  append_field(out, "moving",
               move == nullptr                       ? "no"
               : move->phase == ring::Phase::kFenced ? "fenced"
                                                     : "copying");
  append_field(out, "to", to == nullptr ? "" : std::string_view(to->name));
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
