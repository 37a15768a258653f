#include "sim/world/profile.h"

#include <algorithm>
#include <iterator>

namespace cleave::sim {
namespace {

// Between the two, both included.
std::uint64_t between(Rng& rng, std::uint64_t low, std::uint64_t high) {
  return low + rng.below(high - low + 1);
}

milliseconds ms_between(Rng& rng, std::uint64_t low, std::uint64_t high) {
  return milliseconds(static_cast<std::int64_t>(between(rng, low, high)));
}

// Small limits meet their bounds often; a few worlds have those of production.
Limits make_limits(Rng& rng) {
  Limits limits;
  limits.reconnect_first = ms_between(rng, 1, 20);
  limits.reconnect_max = ms_between(rng, 50, 500);
  limits.connect_timeout = ms_between(rng, 100, 500);
  if (rng.chance(1, 6)) return limits;
  limits.request_timeout = ms_between(rng, 60, 1'500);
  limits.pipe_stuck_max = limits.request_timeout * 3;
  limits.fence_hold_max = ms_between(rng, 40, 300);
  if (rng.chance(1, 4)) limits.held_requests_max = between(rng, 2, 8);
  if (rng.chance(1, 6)) limits.dirty_keys_max = between(rng, 2, 8);
  if (rng.chance(1, 4)) limits.client_pending_max = between(rng, 2, 6);
  limits.copy_batch_keys = between(rng, 1, 16);
  limits.scan_count = between(rng, 1, 40);
  limits.dirty_small_keys = between(rng, 0, 8);
  limits.dirty_rounds_max = static_cast<std::uint32_t>(between(rng, 2, 64));
  // So slow that copies and writes meet.
  if (rng.chance(2, 3)) limits.copy_bytes_per_second = between(rng, 2'000, 100'000);
  if (rng.chance(1, 6)) limits.big_value_bytes = between(rng, 150, 250);
  return limits;
}

FaultWeights make_faults(Rng& rng) {
  FaultWeights faults;
  const auto some = [&rng](std::uint32_t most) {
    return rng.chance(1, 2) ? static_cast<std::uint32_t>(between(rng, 1, most)) : 0U;
  };
  faults.break_server_link = some(10);
  faults.break_client_link = some(3);
  faults.stall_link = some(4);
  faults.pause_router = some(3);
  faults.pause_server = some(3);
  faults.crash_router = some(3);
  faults.stop_router = some(1);
  faults.crash_server = some(2);
  faults.failover = some(2);
  faults.cut_off_router = some(2);
  faults.coordinator = some(3);
  faults.peers = some(3);
  faults.abort_move = some(2);
  faults.partition = some(4);
  faults.arrive = some(2);
  faults.depart = some(2);
  faults.skew_clock = some(2);
  faults.slow_server = some(2);
  faults.exhaust = some(2);
  return faults;
}

// ---- what each flavour adds: its faults, and what makes them matter -----------------------------

void season_links(Profile& profile, Rng& rng) {
  FaultWeights& faults = profile.faults;
  faults.break_server_link = 12;
  faults.stall_link = rng.chance(1, 2) ? 1 : 0;
  faults.break_client_link = 1;
  profile.fault_interval_max = ms_between(rng, 15, 100);
  profile.late_max = ms_between(rng, 10, 200);
  profile.workload.registers = between(rng, 16, 40);
  profile.workload.reads_percent = between(rng, 40, 80);
  profile.limits.request_timeout = milliseconds{2'000};
  // Copies that take long, so that what comes late comes in between.
  profile.limits.copy_bytes_per_second = between(rng, 5'000, 40'000);
  profile.limits.dirty_small_keys = between(rng, 0, 2);
}

void season_removals(Profile& profile, Rng& rng) {
  FaultWeights& faults = profile.faults;
  profile.lease = ms_between(rng, 150, 400);
  faults.pause_router = 2;
  faults.cut_off_router = 3;
  faults.partition = 1;
  profile.phase_fault_one_of = between(rng, 4, 12);
  faults.break_server_link = static_cast<std::uint32_t>(between(rng, 0, 2));
  faults.stall_link = static_cast<std::uint32_t>(between(rng, 0, 2));
  profile.fault_interval_max = ms_between(rng, 200, 900);
}

void season_coordinator(Profile& profile, Rng& rng) {
  profile.faults.coordinator = 4;
  profile.faults.partition = 1;
  profile.faults.cut_off_router = 1;
  profile.coordinator.watch_max = ms_between(rng, 1, 500);
  profile.lease = ms_between(rng, 800, 2'000);
  profile.fault_interval_max = ms_between(rng, 300, 1'500);
}

void season_peers(Profile& profile, Rng& rng) {
  profile.faults.peers = 6;
  profile.faults.partition = 1;
  profile.faults.break_server_link = 1;
  profile.fault_interval_max = ms_between(rng, 100, 600);
  profile.workload.registers = between(rng, 12, 40);
  profile.limits.dirty_small_keys = between(rng, 0, 2);
}

void season_servers(Profile& profile, Rng& rng) {
  profile.lossy_servers = rng.chance(3, 4);
  profile.faults.crash_server = 2;
  profile.faults.failover = 4;
  profile.faults.pause_server = 1;
  profile.faults.slow_server = 1;
  profile.fault_interval_max = ms_between(rng, 100, 600);
}

void season_crashes(Profile& profile, Rng& rng) {
  FaultWeights& faults = profile.faults;
  faults.crash_router = 3;
  faults.stop_router = 1;
  faults.arrive = 2;
  faults.depart = 2;
  faults.abort_move = 1;
  faults.exhaust = 1;
  profile.phase_fault_one_of = between(rng, 3, 10);
  profile.fault_interval_max = ms_between(rng, 200, 1'200);
}

// Clients wander, so that newcomers have commands under way; copies last, so that they come within.
void season_arrivals(Profile& profile, Rng& rng) {
  profile.faults.arrive = 1;
  profile.faults.depart = 1;
  profile.phase_arrivals = true;
  profile.phase_fault_one_of = between(rng, 1, 3);
  profile.fault_interval_max = ms_between(rng, 300, 1'200);
  profile.workload.roam_one_of = between(rng, 2, 10);
  profile.limits.copy_bytes_per_second = between(rng, 2'000, 20'000);
}

void season_partitions(Profile& profile, Rng& rng) {
  FaultWeights& faults = profile.faults;
  faults.partition = 6;
  faults.cut_off_router = 1;
  faults.stall_link = 1;
  faults.slow_server = 1;
  faults.arrive = faults.depart = rng.chance(1, 2) ? 1 : 0;
  profile.lease = ms_between(rng, 200, 1'500);
  profile.fault_interval_max = ms_between(rng, 100, 600);
  profile.phase_fault_one_of = between(rng, 6, 20);
}

void season_clocks(Profile& profile, Rng& rng) {
  profile.faults.skew_clock = 4;
  profile.faults.break_server_link = 1;
  profile.clock_jumps = true;
  profile.fault_interval_max = ms_between(rng, 200, 900);
}

void season_everything(Profile& profile, Rng& rng) {
  profile.faults = make_faults(rng);
  profile.phase_fault_one_of = rng.chance(1, 2) ? between(rng, 4, 20) : 0;
}

// Collections that go in pieces and are written all the time (rule 27), small ones too.
void season_collections(Profile& profile, Rng& rng) {
  if (!rng.chance(1, 3)) return;
  profile.workload.collections = between(rng, 1, 4);
  profile.workload.elements = between(rng, 6, 12);
  profile.limits.big_value_bytes = between(rng, 150, 400);
  profile.limits.dirty_rounds_max = std::max(profile.limits.dirty_rounds_max, 12U);
}

// What is asked for, how fast the workload passes and where it begins: a flash is two minutes late
// there, and a day is long.
struct Demanded {
  const char* workload;
  seconds from;
  seconds speed;
};
constexpr Demanded kDemanded[] = {
    {"zipf:0.7", seconds{0}, seconds{1}},       {"zipf:0.99", seconds{0}, seconds{1}},
    {"zipf:1.3", seconds{0}, seconds{1}},       {"shift:25", seconds{0}, seconds{1}},
    {"flash", seconds{100}, seconds{1}},        {"twins:20", seconds{0}, seconds{1}},
    {"diurnal", seconds{20'000}, seconds{400}}, {"square", seconds{0}, seconds{1}},
    {"negative", seconds{0}, seconds{1}},       {"tags", seconds{0}, seconds{1}},
    {"uniform", seconds{0}, seconds{1}},        {"near-idle", seconds{0}, seconds{1}},
};
constexpr std::uint64_t kOperationsASecond = 280;
constexpr double kUse = 0.22;  // of the mean server

// Steady traffic, of which the bursts are only more; servers for whom it is work.
void season_balancing(Profile& profile, Rng rng) {
  if (!rng.chance(1, 3)) return;
  // A flush is one operation on each of the many keys that there are here.
  if (profile.workload.flush_one_of > 0 && rng.chance(3, 4)) return;
  profile.balancing.on = true;
  profile.balancing.calm = ms_between(rng, 40'000, 80'000);
  profile.servers = between(rng, 3, 5);
  if (rng.chance(1, 60)) {  // hundreds, for a shorter time
    profile.servers = between(rng, 100, 300);
    profile.workers = 1;
    profile.active = milliseconds{15'000};
    profile.balancing.calm = milliseconds{45'000};
  }
  profile.unmarked_server = profile.unmarked_server && rng.chance(1, 2);
  if (rng.chance(1, 3))
    profile.balancing.constants.cuts_per_node = static_cast<std::uint32_t>(between(rng, 2, 8));
  const Demanded& demanded = kDemanded[rng.below(std::size(kDemanded))];
  WorkloadOptions& workload = profile.workload;
  workload.demand = {.workload = demanded.workload,
                     .nodes = profile.servers,
                     .keys = between(rng, 60, 300),
                     .seed = rng.next(),
                     .from = demanded.from,
                     .speed = demanded.speed};
  workload.clients = std::max<std::size_t>(workload.clients, 4);
  const std::uint64_t batch = (1 + workload.pipeline_max) / 2 + 1;
  const std::uint64_t batches_ms = 1'000 * workload.clients * batch / kOperationsASecond;
  workload.quiet_pause_max = milliseconds{static_cast<std::int64_t>(2 * batches_ms)};
  if (workload.flush_one_of > 0) workload.flush_one_of *= 10;
  const std::size_t counted = std::min<std::size_t>(profile.servers, 8);
  const double busy = kUse * static_cast<double>(counted) / kOperationsASecond;
  profile.balancing.key_command_max = nanoseconds{static_cast<std::int64_t>(2e9 * busy)};
  // A flush hides them: it counts as more commands than were sent.
  profile.balancing.strangers = workload.flush_one_of == 0 && rng.chance(1, 4);
  if (profile.balancing.strangers) {
    profile.balancing.calm = ms_between(rng, 100'000, 120'000);
    if (profile.faults.total() > 0) profile.faults.stranger = 1;
  }
  // Requests wait behind others here, also the last copies of a fence.
  Limits& limits = profile.limits;
  limits.request_timeout = std::max(limits.request_timeout, milliseconds{1'000});
  limits.pipe_stuck_max = limits.request_timeout * 3;
  limits.fence_hold_max = std::max(limits.fence_hold_max, milliseconds{200});
  if (limits.copy_bytes_per_second > 0)
    limits.copy_bytes_per_second = std::max<std::size_t>(limits.copy_bytes_per_second, 20'000);
}

void season(Profile& profile, Rng& rng) {
  switch (profile.flavour) {
    case Flavour::kCalm: return;
    case Flavour::kLinks: return season_links(profile, rng);
    case Flavour::kRemovals: return season_removals(profile, rng);
    case Flavour::kCoordinator: return season_coordinator(profile, rng);
    case Flavour::kPeers: return season_peers(profile, rng);
    case Flavour::kServers: return season_servers(profile, rng);
    case Flavour::kCrashes: return season_crashes(profile, rng);
    case Flavour::kArrivals: return season_arrivals(profile, rng);
    case Flavour::kPartitions: return season_partitions(profile, rng);
    case Flavour::kClocks: return season_clocks(profile, rng);
    case Flavour::kEverything: return season_everything(profile, rng);
  }
}

}  // namespace

std::string_view to_string(Flavour flavour) {
  switch (flavour) {
    case Flavour::kCalm: return "calm";
    case Flavour::kLinks: return "links";
    case Flavour::kRemovals: return "removals";
    case Flavour::kCoordinator: return "coordinator";
    case Flavour::kPeers: return "peers";
    case Flavour::kServers: return "servers";
    case Flavour::kCrashes: return "crashes";
    case Flavour::kArrivals: return "arrivals";
    case Flavour::kPartitions: return "partitions";
    case Flavour::kClocks: return "clocks";
    case Flavour::kEverything: return "everything";
  }
  return "unknown";
}

std::uint32_t FaultWeights::total() const {
  return break_server_link + break_client_link + stall_link + pause_router + pause_server +
         crash_router + stop_router + crash_server + failover + cut_off_router + coordinator +
         peers + abort_move + partition + arrive + depart + skew_clock + slow_server + refuse +
         stranger + exhaust;
}

Profile make_profile(std::uint64_t seed) {
  Rng rng(seed * 0x2545F4914F6CDD1DU + 1);
  Profile profile;
  profile.flavour = static_cast<Flavour>(seed % kFlavours);
  profile.servers = between(rng, 2, 4);
  profile.routers = between(rng, 3, 5);
  profile.workers = between(rng, 1, 2);
  profile.lossy_servers = rng.chance(1, 4);
  profile.unmarked_server = profile.servers > 2 && rng.chance(1, 4);
  profile.foreign_keys = rng.chance(1, 4);
  profile.command_max = microseconds(static_cast<std::int64_t>(between(rng, 2, 150)));
  profile.lease = ms_between(rng, 200, 900);
  profile.fault_interval_max = ms_between(rng, 20, 600);
  profile.move_interval_max = ms_between(rng, 10, 120);
  profile.late_max = ms_between(rng, 1, 400);
  profile.limits = make_limits(rng);
  profile.workload.clients = between(rng, 2, 8);
  profile.workload.registers = between(rng, 4, 16);
  profile.workload.reads_percent = rng.chance(1, 2) ? 40 : 75;
  profile.workload.pipeline_max = between(rng, 1, 5);
  profile.workload.pause_max = ms_between(rng, 5, 24);
  profile.rhythm = {.burst = ms_between(rng, 300, 600), .period = ms_between(rng, 9'000, 12'000)};
  profile.old_backup = rng.chance(1, 4);
  season(profile, rng);
  profile.workload.rhythm = profile.rhythm;
  // Who jumps between two clocks can find a key early or late by as much.
  profile.clock_jumps = profile.clock_jumps || rng.chance(1, 8);
  if (profile.clock_jumps) {
    profile.faults.skew_clock = std::max(1U, profile.faults.skew_clock);
    profile.workload.clock_slack += 2 * kClockJumpMax;  // from one end to the other
  }
  if (!profile.lossy_servers) profile.faults.failover = 0;
  if (profile.flavour == Flavour::kServers) profile.faults.refuse = 3;
  if (profile.flavour == Flavour::kEverything) profile.faults.refuse = 2;
  // Not where somebody else's keys lie on a server of the pool: a flush has the right to end them.
  if (!profile.unmarked_server && !profile.foreign_keys && rng.chance(1, 3)) {
    profile.workload.flush_one_of = between(rng, 60, 600);
  }
  season_collections(profile, rng);
  profile.lost_ring = !profile.old_backup && rng.chance(1, 3);
  season_balancing(profile, Rng(seed * 0x2545F4914F6CDD1DU + 2));
  profile.spares_coordinator = seed % 2 == 1;
  // Nor a flush where a server brings keys of its own.
  profile.replacements = profile.flavour == Flavour::kServers && profile.workload.flush_one_of == 0;
  return profile;
}

}  // namespace cleave::sim
