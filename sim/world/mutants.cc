#include "sim/world/mutants.h"

#include <algorithm>
#include <iterator>

namespace cleave::sim {
namespace {

// ---- routers that are set up otherwise than was promised ----------------------------------------

void without_bound_of_cuts(Profile& profile) {
  profile.misled.constants = profile.balancing.constants;
  profile.misled.constants->cuts_per_node = 1'000;
  profile.balancing.constants.cuts_per_node = 2;
}

// It levels what is level, takes back what it has done, and has no budget that would end that.
void restless(Profile& profile) {
  balance::Constants constants = profile.balancing.constants;
  constants.slow_ppm = constants.stop_ppm = constants.stop_least_ppm = constants.goal_ppm =
      1'000'001;
  constants.stop_bound_ppm = constants.near_bound_ppm = constants.polish_stop_ppm = 1'000'001;
  constants.slow_capacity_ppm = constants.calm_capacity_ppm = 0;
  constants.cheap_after = constants.slow_after = milliseconds{0};
  constants.gain_min_ppm = constants.piece_min_ppm = 0;
  constants.plan_keys_ppm = constants.hour_keys_ppm = constants.urgent_hour_keys_ppm =
      1'000'000'000;
  constants.slow_divisor = 1;
  constants.dwell = constants.back_after = constants.recut_after = milliseconds{0};
  profile.misled.constants = constants;
}

// Somebody writes past the routers while much is moved.
void among_strangers(Profile& profile) {
  restless(profile);
  profile.workload.flush_one_of = 0;
  profile.balancing.strangers = profile.balancing.on;
  profile.balancing.calm = std::max(profile.balancing.calm, milliseconds{100'000});
}

void blind(Profile& profile) {
  balance::Constants constants = profile.balancing.constants;
  constants.hot_ppm = constants.slow_ppm = constants.stop_ppm = constants.stop_least_ppm =
      100'000'000;
  profile.misled.constants = constants;
}

void impatient(Profile& profile) { profile.misled.lease = profile.lease / 30; }

constexpr Mutant kMutants[] = {
    {"no_sweep", "7, 12", &Mutations::no_sweep, Flavour::kRemovals},
    {"no_copying_ack", "14", &Mutations::no_copying_ack, Flavour::kCoordinator},
    {"no_fence_wait", "11", &Mutations::no_fence_wait, Flavour::kCalm},
    {"hold_writes_only", "9", &Mutations::hold_writes_only, Flavour::kCalm},
    {"mark_at_send", "10", &Mutations::mark_at_send, Flavour::kPartitions},
    {"mark_after_reply", "10", &Mutations::mark_after_reply, Flavour::kCalm},
    {"take_forgets", "10", &Mutations::take_forgets, Flavour::kPeers},
    {"any_phase_epoch", "4", &Mutations::any_phase_epoch, Flavour::kPeers},
    {"leave_fence_alone", "11", &Mutations::leave_fence_alone, Flavour::kCoordinator},
    {"commit_without_acks", "20", &Mutations::commit_without_acks, Flavour::kCalm},
    {"commit_without_cas", "20", &Mutations::commit_without_cas, Flavour::kRemovals},
    {"lost_is_finished", "6", &Mutations::lost_is_finished, Flavour::kLinks},
    {"no_own_kill", "8", &Mutations::no_own_kill, Flavour::kLinks},
    {"no_gate_read", "5", &Mutations::no_gate_read, Flavour::kRemovals},
    {"no_incarnation_check", "19", &Mutations::no_incarnation_check, Flavour::kServers},
    {"no_last_copy", "18", &Mutations::no_last_copy, Flavour::kCalm},
    {"no_marker_check", "12", &Mutations::no_marker_check, Flavour::kCalm},
    {"follow_old_backup", "1", &Mutations::follow_old_backup, Flavour::kCalm},
    {"removal_keeps_moves", "2", &Mutations::removal_keeps_moves, Flavour::kRemovals},
    {"removed_goes_on", "2", &Mutations::removed_goes_on, Flavour::kRemovals},
    {"term_keeps_moves", "3", &Mutations::term_keeps_moves, Flavour::kCoordinator},
    {"views_go_back", "9", &Mutations::views_go_back, Flavour::kCoordinator},
    {"absent_is_skipped", "15", &Mutations::absent_is_skipped, Flavour::kCalm},
    {"dump_before_take", "16", &Mutations::dump_before_take, Flavour::kCalm},
    {"members_before_fence", "17", &Mutations::members_before_fence, Flavour::kArrivals},
    {"begin_over_leftovers", "12", &Mutations::begin_over_leftovers, Flavour::kCalm},
    {"no_check", "13", &Mutations::no_check, Flavour::kCalm},
    {"enter_before_check", "13", &Mutations::enter_before_check, Flavour::kCalm},
    {"enter_late", "13", &Mutations::enter_late, Flavour::kCalm},
    {"commit_keeps_entry", "20", &Mutations::commit_keeps_entry, Flavour::kCalm},
    {"commit_no_entry", "20", &Mutations::commit_no_entry, Flavour::kCalm},
    {"abort_drops_entry", "22", &Mutations::abort_drops_entry, Flavour::kPeers},
    {"no_cleaning", "23", &Mutations::no_cleaning, Flavour::kCalm},
    {"clean_own_only", "3, 23", &Mutations::clean_own_only, Flavour::kCoordinator},
    {"clean_no_sweep", "23", &Mutations::clean_no_sweep, Flavour::kRemovals},
    {"drop_early", "23", &Mutations::drop_early, Flavour::kCalm},
    {"no_holder_check", "23", &Mutations::no_holder_check, Flavour::kServers},
    {"clean_unjudged", "23", &Mutations::clean_unjudged, Flavour::kServers},
    {"clean_any_server", "23", &Mutations::clean_any_server, Flavour::kServers},
    {"take_back_no_fence", "26", &Mutations::take_back_no_fence, Flavour::kServers},
    {"take_back_no_entry", "26", &Mutations::take_back_no_entry, Flavour::kServers},
    {"take_back_keeps_entry", "26", &Mutations::take_back_keeps_entry, Flavour::kServers},
    {"no_clock_check", "expiry", &Mutations::no_clock_check, Flavour::kClocks},
    {"new_ring_anyway", "1", &Mutations::new_ring_anyway, Flavour::kCalm},
    {"flush_no_mark", "24", &Mutations::flush_no_mark, Flavour::kCalm},
    {"flush_no_hold", "24", &Mutations::flush_no_hold, Flavour::kCalm},
    {"element_mark_lost", "27", &Mutations::element_mark_lost, Flavour::kCalm},
    {"removed_element_stays", "27", &Mutations::removed_element_stays, Flavour::kCalm},
    {"no_last_elements", "18, 27", &Mutations::no_last_elements, Flavour::kCalm},
    {"element_hides_key", "27", &Mutations::element_hides_key, Flavour::kCalm},
    {"flush_parts_apart", "24", &Mutations::flush_parts_apart, Flavour::kCalm},
    {"without_bound_of_cuts", "cuts", nullptr, Flavour::kCalm, without_bound_of_cuts, "balance: "},
    {"restless", "settled", nullptr, Flavour::kCalm, restless, "balance: a settled"},
    {"blind", "promise", nullptr, Flavour::kCalm, blind, "balance: server"},
    {"marker_unread", "verdicts", &Mutations::marker_unread, Flavour::kCalm, nullptr,
     "balance: verdict veto"},
    {"strangers_ignored", "strangers", &Mutations::strangers_ignored, Flavour::kCalm,
     among_strangers, "balance: a move begins at a server that strangers"},
    {"impatient", "coordinator", nullptr, Flavour::kCoordinator, impatient, "coordinator: "},
};

constexpr std::size_t kFlags =
    std::ranges::count_if(kMutants, [](const Mutant& each) { return each.flag != nullptr; });
// A flag that is added to Mutations must be added here.
static_assert(sizeof(Mutations) == kFlags * sizeof(bool));

}  // namespace

Mutations Mutant::mutations() const {
  Mutations mutations;
  if (flag != nullptr) mutations.*flag = true;
  return mutations;
}

Profile Mutant::profile(std::uint64_t seed) const {
  Profile profile = make_profile(seed);
  if (mislead != nullptr) mislead(profile);
  return profile;
}

std::span<const Mutant> all_mutants() { return kMutants; }

const Mutant* find_mutant(std::string_view name) {
  for (const Mutant& mutant : kMutants)
    if (mutant.name == name) return &mutant;
  return nullptr;
}

}  // namespace cleave::sim
