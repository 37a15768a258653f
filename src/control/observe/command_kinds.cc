#include "control/observe/command_kinds.h"

namespace cleave::control {
namespace {

bool is_opaque(const route::CommandSpec& spec) {
  if (spec.handling.special == route::Special::kScript) return true;
  if (spec.name.contains('.')) return true;  // a module's: it may call others
  return spec.handling.action == route::Action::kEverywhere &&
         spec.handling.merge == route::Merge::kAllOk;
}

void add(CommandKinds& kinds, const route::CommandSpec& spec) {
  if (is_opaque(spec)) kinds.opaque.insert(spec.name);
  // Only cleave itself asks it, and all the time (control/observe/key_sampler.h).
  if (spec.name == "memory|usage") return;
  if (spec.keys.empty() && !spec.keys_unknown) return;
  kinds.keyed.insert(spec.name);
  if (spec.writes) kinds.writes.insert(spec.name);
}

}  // namespace

CommandKinds kinds_of(const route::CommandTable& table) {
  CommandKinds kinds;
  for (const route::CommandSpec& spec : table.commands()) {
    add(kinds, spec);
    for (const route::CommandSpec& sub : spec.subcommands) add(kinds, sub);
  }
  return kinds;
}

}  // namespace cleave::control
