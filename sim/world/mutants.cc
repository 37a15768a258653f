#include "sim/world/mutants.h"

namespace cleave::sim {
namespace {

constexpr Mutant kMutants[] = {
    {"no_purge", "13", &Mutations::no_purge},
    {"no_sweep", "7, 12", &Mutations::no_sweep},
    {"no_copying_ack", "14", &Mutations::no_copying_ack},
    {"no_fence_wait", "11", &Mutations::no_fence_wait},
    {"hold_writes_only", "9", &Mutations::hold_writes_only},
    {"mark_at_send", "10", &Mutations::mark_at_send},
    {"mark_after_reply", "10", &Mutations::mark_after_reply},
    {"take_forgets", "10", &Mutations::take_forgets},
    {"any_phase_epoch", "4", &Mutations::any_phase_epoch},
    {"leave_fence_alone", "11", &Mutations::leave_fence_alone},
    {"commit_without_acks", "20", &Mutations::commit_without_acks},
    {"commit_without_cas", "20", &Mutations::commit_without_cas},
    {"lost_is_finished", "6", &Mutations::lost_is_finished},
    {"no_own_kill", "8", &Mutations::no_own_kill},
    {"no_gate_read", "5", &Mutations::no_gate_read},
    {"no_incarnation_check", "19", &Mutations::no_incarnation_check},
    {"no_last_copy", "18", &Mutations::no_last_copy},
    {"no_marker_check", "12", &Mutations::no_marker_check},
};

// A flag that is added to Mutations must be added here.
static_assert(sizeof(Mutations) == std::size(kMutants) * sizeof(bool));

}  // namespace

std::span<const Mutant> all_mutants() { return kMutants; }

const Mutant* find_mutant(std::string_view name) {
  for (const Mutant& mutant : kMutants)
    if (mutant.name == name) return &mutant;
  return nullptr;
}

}  // namespace cleave::sim
