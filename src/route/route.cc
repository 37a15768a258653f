#include "route/route.h"

#include "base/check.h"
#include "route/known_commands.h"
#include "route/refusals.h"

namespace cleave::route {
namespace {

using Args = std::span<const std::string_view>;

void refuse(Decision& decision, std::string text) {
  CHECK(!text.empty());  // whoever is refused is told why
  decision.action = Action::kRefuse;
  decision.writes = false;
  decision.keys.clear();
  decision.refusal = std::move(text);
}

bool one_token(std::span<const KeyPlace> keys) {
  CHECK(!keys.empty());
  for (const KeyPlace& key : keys) {
    if (key.token != keys[0].token) return false;
  }
  return true;
}

// Why a command that found none of its keys cannot go anywhere.
std::string no_keys(const CommandSpec& spec) {
  if (spec.handling.special == Special::kScript) {
    return "ERR '" + spec.name +
           "' without declared keys is not supported: " + "the keys say which server it runs on";
  }
  if (spec.keys.size() == 1 && spec.keys[0].find == KeySpec::Find::kKeynum) {
    return "ERR at least 1 input key is needed for '" + spec.name + "' command";
  }
  return not_supported(spec, kNoKey);
}

std::string bad_keys(const CommandSpec& spec, const Error& why) {
  return why.code == Code::kNotFound ? not_supported(spec, why.message) : "ERR " + why.message;
}

// Whatever an argument may still say against the command after its name and arity are fine.
std::string objection(const CommandSpec& spec, Args args) {
  const bool knows_better = spec.handling.action == Action::kLocal;
  if (!spec.subcommands.empty() && args.size() > 1 && !knows_better) {
    return unknown_subcommand(args);
  }
  if (spec.handling.action == Action::kRefuse) return not_supported(spec, spec.handling.reason);
  if (knows_better) return {};
  if (spec.handling.special != Special::kNone) return special_refusal(spec, args);
  return {};
}

// Nothing but its one key matters.
bool is_plain(const CommandSpec& spec) {
  return spec.only_key != 0 && spec.handling.action == Action::kForward &&
         spec.handling.special == Special::kNone;
}

}  // namespace

void CommandRouter::route(std::span<const std::string_view> args, const ring::RingView& view,
                          Decision& decision) const {
  CHECK(!args.empty());
  const CommandSpec* const spec = table_.find(args);
  decision.spec = spec;
  decision.keys.clear();
  decision.refusal.clear();
  decision.writes = false;
  if (spec == nullptr) return refuse(decision, unknown_command(args));
  if (!spec->fits_arity(args.size())) return refuse(decision, wrong_arity(*spec));
  decision.writes = spec->writes;
  decision.action = spec->handling.action;
  decision.merge = spec->handling.merge;
  decision.args_per_key = spec->handling.args_per_key;
  if (is_plain(*spec)) {
    add_key(args, spec->only_key, view, decision);
    return;
  }
  if (std::string why = objection(*spec, args); !why.empty())
    return refuse(decision, std::move(why));
  if (decision.action == Action::kForward || decision.action == Action::kSplit) {
    route_by_keys(args, view, decision);
  }
}

void CommandRouter::route_by_keys(std::span<const std::string_view> args,
                                  const ring::RingView& view, Decision& decision) const {
  CHECK(decision.spec != nullptr && decision.args_per_key > 0);
  const CommandSpec& spec = *decision.spec;
  if ((args.size() - 1) % decision.args_per_key != 0) return refuse(decision, wrong_arity(spec));
  decision.positions.clear();
  const auto found = find_keys(spec, args, decision.positions);
  if (!found) return refuse(decision, bad_keys(spec, found.error()));
  if (decision.positions.empty()) return refuse(decision, no_keys(spec));
  for (const std::uint32_t position : decision.positions) {
    if (!add_key(args, position, view, decision)) return;
  }
  if (one_token(decision.keys)) {
    decision.action = Action::kForward;
  } else if (decision.action == Action::kForward) {
    refuse(decision, "CROSSSLOT Keys in request don't hash to the same token: '" + spec.name +
                         "' runs on one server, so all its keys need one {hash tag}");
  }
}

bool CommandRouter::add_key(std::span<const std::string_view> args, std::uint32_t position,
                            const ring::RingView& view, Decision& decision) const {
  CHECK(position > 0);  // the name is no key
  if (position >= args.size()) {
    refuse(decision, wrong_arity(*decision.spec));
    return false;
  }
  const std::string_view key = args[position];
  if (key.starts_with(kReservedPrefix) || key.size() > limits_.key_bytes_max) {
    refuse(decision, key_refusal(key, limits_));
    return false;
  }
  decision.keys.push_back({.position = position, .token = view.token_of(key)});
  return true;
}

}  // namespace cleave::route
