#include "rehearse/engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "balance/input/bound.h"
#include "base/wide.h"
#include "heat/ledger.h"
#include "rehearse/leader.h"
#include "rehearse/oscillations.h"
#include "rehearse/recording.h"
#include "rehearse/traffic.h"
#include "rehearse/transfers.h"
#include "rehearse/workloads/pool.h"

namespace cleave::rehearse {
namespace {

constexpr Instant kStart = seconds{1'000};
constexpr std::int64_t kWallStartMs = 1'700'000'000'000;
constexpr seconds kTick{2};
static_assert(kTick == heat::Ledger::kTick);

UnixMillis wall_at(seconds at) { return UnixMillis{kWallStartMs + milliseconds{at}.count()}; }

bool memory_is_limited(const Pool& pool) {
  return std::ranges::any_of(pool.nodes(),
                             [](const PoolNode& node) { return node.spec.memory_bytes_max > 0; });
}

class Engine {
 public:
  Engine(const Options& options, std::unique_ptr<Workload> workload, std::unique_ptr<Policy> policy)
      : options_(options),
        workload_(std::move(workload)),
        duration_(options.duration.value_or(workload_->duration())),
        step_(workload_->step()),
        pool_(workload_->nodes(), wall_at(seconds{0}), workload_->scheme()),
        truth_(options.truth),
        traffic_({.routers = options.routers,
                  .draws_max = options.draws_max,
                  .seed = options.setting.seed},
                 kStart),
        leader_(std::move(policy), options.constants, options.setting.seed, kStart),
        recording_({.workload = options.workload,
                    .policy = options.policy,
                    .seed = options.setting.seed,
                    .keys = options.setting.keys},
                   duration_, step_) {
    scene_.read_ppm = options.setting.read_ppm;
    course_.rests = memory_.rests = workload_->rests();
  }

  Run run() {
    for (seconds at{0}; at < duration_; at += step_) {
      begin_step(at);
      look(at);
      serve(at + step_);
      pass_time(at + step_);
      if ((at + step_) % kTick == seconds{0}) tick(at + step_);
    }
    course_.ranges = pool_.view()->entries().size();
    course_.oscillations = oscillations_.count();
    Run result{.record = recording_.finish(duration_)};
    result.summary = summarise(result.record, course_, memory_);
    result.verdicts = std::move(last_.plan.verdicts);
    result.advice = std::move(last_.plan.advice);
    return result;
  }

 private:
  void begin_step(seconds at);
  void happen(const NodeEvent& event, seconds at);
  void set_rack_healthy(const std::string& rack, bool healthy, seconds at);
  void see_view(seconds at);
  void sum_nodes();
  void turn(const Change& change, seconds at);
  std::vector<std::uint64_t> fair_bytes() const;
  void turn_memory(seconds at);
  void look(seconds at);
  void look_at_memory(seconds at);
  void serve(seconds until);
  void pass_time(seconds until);
  void tick(seconds at);
  void begin(const balance::PlannedMove& move, seconds at);
  void end(const Transfer& transfer, bool committed, seconds at);
  std::vector<std::uint32_t> use_ppm() const;
  std::vector<std::uint64_t> loads_with_scans() const;

  const Options& options_;
  std::unique_ptr<Workload> workload_;
  seconds duration_;
  seconds step_;
  Scene scene_;
  Pool pool_;
  Truth truth_;
  Traffic traffic_;
  Leader leader_;
  Transfers transfers_;
  Recording recording_;
  Oscillations oscillations_;
  Course course_;
  Course memory_;                // of the bytes; no points where memory is not limited
  ring::RingSnapshot seen_;      // the view that routers and leader know
  std::vector<Amount> amounts_;  // of each node; of the view seen
  std::uint32_t bound_ppm_ = 1'000'000;
  std::uint32_t memory_bound_ppm_ = 1'000'000;
  Proposal last_;
};

void Engine::begin_step(seconds at) {
  const Change change = workload_->set(at, scene_);
  const bool loads = change.loads || at == seconds{0};
  if (loads) {
    truth_.set(scene_);
    traffic_.set_scene(scene_, truth_);
    if (memory_is_limited(pool_)) leader_.set_scene(scene_);
  }
  for (const NodeEvent& event : change.events) happen(event, at);
  pool_.remove_empty();
  if (at == seconds{0}) recording_.set_nodes(pool_.nodes());
  see_view(at);
  if (loads || !change.events.empty()) {
    sum_nodes();
    std::vector<std::uint64_t> tokens;
    for (const Truth::Atom& each : truth_.atoms()) tokens.push_back(each.load);
    bound_ppm_ = balance::bound_ppm(tokens, truth_.total_load(), pool_.capacities());
  }
  if (change.turn || at == seconds{0}) turn(change, at);
}

void Engine::happen(const NodeEvent& event, seconds at) {
  switch (event.kind) {
    case NodeEvent::Kind::kJoins:
      pool_.add(event.node, wall_at(at));
      recording_.set_nodes(pool_.nodes());
      break;
    case NodeEvent::Kind::kLeaves: (void)pool_.drain(event.name, wall_at(at)); break;
    case NodeEvent::Kind::kRackFails: set_rack_healthy(event.name, false, at); break;
    case NodeEvent::Kind::kRackReturns: set_rack_healthy(event.name, true, at); break;
  }
}

void Engine::set_rack_healthy(const std::string& rack, bool healthy, seconds at) {
  pool_.set_rack_healthy(rack, healthy);
  if (healthy) return;
  for (std::size_t number = 0; number < pool_.nodes().size(); ++number) {
    if (pool_.nodes()[number].spec.rack != rack) continue;
    for (const Transfer& each : transfers_.abort(id_of(number))) {
      pool_.abort(each.id);
      end(each, false, at);
    }
  }
}

// Routers and leader take over the newest view.
void Engine::see_view(seconds at) {
  if (seen_ == pool_.view()) return;
  seen_ = pool_.view();
  traffic_.set_view(seen_, kStart + at);
  leader_.set_view(seen_);
  recording_.set_cuts(pool_.document(), at);
  oscillations_.cuts_changed(pool_.document(), Oscillations::By::kOther, at);
  sum_nodes();
}

void Engine::sum_nodes() {
  amounts_.assign(pool_.nodes().size(), {});
  for (const ring::Entry& entry : seen_->entries()) {
    amounts_[number_of(entry.node)] += truth_.in(entry.range);
  }
}

// What had to be moved now at least. Loaded or not, a node that joins must be given its share, and
// one that leaves must give everything.
void Engine::turn(const Change& change, seconds at) {
  const std::vector<std::uint64_t> fair = pool_.fair_loads(truth_.total_load());
  Least least = least_work(*seen_, truth_.atoms(), amounts_, fair, target_ppm(bound_ppm_));
  Amount all;
  Least ordered;
  for (std::size_t number = 0; number < amounts_.size(); ++number) {
    all += amounts_[number];
    if (pool_.nodes()[number].active) continue;
    ordered += {.load = amounts_[number].load, .keys = amounts_[number].keys};
  }
  Wide capacity = 0;
  for (const std::uint64_t each : pool_.capacities()) capacity += each;
  for (const NodeEvent& event : change.events) {
    if (event.kind != NodeEvent::Kind::kJoins) continue;
    const Wide own = Wide{event.node.weight} * balance::kCore;
    ordered += {.load = static_cast<std::uint64_t>(all.load * own / capacity),
                .keys = static_cast<std::uint64_t>(all.keys * own / capacity)};
  }
  least.load = std::max(least.load, ordered.load);
  least.keys = std::max(least.keys, ordered.keys);
  course_.turns.push_back({.at = at, .least = least});
  if (memory_is_limited(pool_)) turn_memory(at);
}

// What each node would hold if all were filled alike; 0 for one without limit, or that is leaving.
std::vector<std::uint64_t> Engine::fair_bytes() const {
  Wide held = 0;
  Wide limits = 0;
  const auto counts = [](const PoolNode& node) {
    return node.active && node.spec.memory_bytes_max > 0;
  };
  for (std::size_t number = 0; number < amounts_.size(); ++number) {
    if (!counts(pool_.nodes()[number])) continue;
    held += amounts_[number].bytes;
    limits += pool_.nodes()[number].spec.memory_bytes_max;
  }
  std::vector<std::uint64_t> fair(amounts_.size(), 0);
  for (std::size_t number = 0; number < amounts_.size(); ++number) {
    if (!counts(pool_.nodes()[number])) continue;
    const Wide own = held * pool_.nodes()[number].spec.memory_bytes_max / limits;
    fair[number] = static_cast<std::uint64_t>(own);
  }
  return fair;
}

void Engine::turn_memory(seconds at) {
  const std::vector<Truth::Atom> atoms = truth_.byte_atoms();
  std::vector<std::uint64_t> tokens;
  std::uint64_t all = 0;
  for (const Truth::Atom& each : atoms) {
    tokens.push_back(each.load);
    all += each.load;
  }
  const std::vector<std::uint64_t> fair = fair_bytes();
  std::vector<std::uint64_t> limits;
  std::vector<Amount> held(amounts_.size());
  for (std::size_t number = 0; number < amounts_.size(); ++number) {
    held[number].load = amounts_[number].bytes;
    if (fair[number] > 0) limits.push_back(pool_.nodes()[number].spec.memory_bytes_max);
  }
  memory_bound_ppm_ = balance::bound_ppm(tokens, all, limits);
  memory_.turns.push_back(
      {.at = at, .least = least_work(*seen_, atoms, held, fair, target_ppm(memory_bound_ppm_))});
}

void Engine::look(seconds at) {
  const std::vector<std::uint64_t> loads = loads_with_scans();
  const std::vector<std::uint64_t> fair = pool_.fair_loads(truth_.total_load());
  Course::Point point{.at = at, .bound_ppm = bound_ppm_};
  for (std::size_t number = 0; number < loads.size(); ++number) {
    if (fair[number] == 0) continue;
    point.peak_ppm = std::max(point.peak_ppm, balance::level_ppm(loads[number], fair[number]));
  }
  course_.points.push_back(point);
  recording_.look(point, loads, amounts_, truth_, transfers_.under_way().size());
  if (memory_is_limited(pool_)) look_at_memory(at);
}

void Engine::look_at_memory(seconds at) {
  const std::vector<std::uint64_t> fair = fair_bytes();
  Course::Point point{.at = at, .bound_ppm = memory_bound_ppm_};
  for (std::size_t number = 0; number < fair.size(); ++number) {
    if (fair[number] == 0) continue;
    point.peak_ppm =
        std::max(point.peak_ppm, balance::level_ppm(amounts_[number].bytes, fair[number]));
  }
  memory_.points.push_back(point);
}

void Engine::serve(seconds until) {
  leader_.fold(traffic_.serve(step_, kStart + until), kStart + until);
}

void Engine::pass_time(seconds until) {
  for (const Transfer& each : transfers_.pass(step_, use_ppm())) {
    pool_.commit(each.id, wall_at(until));
    oscillations_.moved(each.promise.planned, until);
    course_.cuts += each.promise.planned.ranges.size();
    end(each, true, until);
  }
  see_view(until);
}

void Engine::end(const Transfer& transfer, bool committed, seconds at) {
  recording_.move_ended(transfer.recorded, committed, at);
  leader_.move_ended(transfer, committed, kStart + at, wall_at(at));
}

void Engine::tick(seconds at) {
  last_ = leader_.tick(pool_, amounts_, kStart + at, wall_at(at));
  for (ring::Cut cut : last_.cuts) {
    cut.created = wall_at(at);
    if (pool_.lay_cut(cut)) ++course_.cuts;
  }
  for (const balance::PlannedMove& move : last_.plan.moves) begin(move, at);
  oscillations_.cuts_changed(pool_.document(), Oscillations::By::kOther, at);
  for (const ring::TokenRange& range : last_.plan.merges) {
    if (!pool_.merge(range, wall_at(at))) continue;
    ++course_.merges;
    oscillations_.cuts_changed(pool_.document(), Oscillations::By::kMerge, at);
  }
}

// A move that the document refuses, or one too many of a node, does not happen.
void Engine::begin(const balance::PlannedMove& move, seconds at) {
  if (transfers_.out_of(move.source) >= options_.constants.moves_out_max) return;
  if (transfers_.into(move.destination) >= options_.constants.moves_in_max) return;
  const Result<MoveId> begun = pool_.begin(move, wall_at(at));
  if (!begun) return;
  const Amount amount = truth_.in(move.ranges);
  transfers_.begin({.id = *begun,
                    .promise = leader_.promise(move),
                    .recorded = recording_.move_began(move, amount, at),
                    .keys = amount.keys},
                   amounts_[number_of(move.source)].keys, amount.bytes);
}

std::vector<std::uint32_t> Engine::use_ppm() const {
  std::vector<std::uint32_t> use;
  for (std::size_t number = 0; number < amounts_.size(); ++number) {
    use.push_back(balance::level_ppm(amounts_[number].load, pool_.nodes()[number].capacity));
  }
  return use;
}

// What the nodes are busy with in the step that begins.
std::vector<std::uint64_t> Engine::loads_with_scans() const {
  std::vector<std::uint64_t> loads;
  for (const Amount& each : amounts_) loads.push_back(each.load);
  const std::vector<std::uint32_t> use = use_ppm();
  for (const Transfer& each : transfers_.under_way()) {
    const nanoseconds scan = Transfers::scan_time(each, step_, use);
    loads[number_of(each.promise.planned.source)] +=
        static_cast<std::uint64_t>(scan.count() / step_.count());
  }
  return loads;
}

}  // namespace

Result<Run> run(const Options& options) {
  const Setting& setting = options.setting;
  if (setting.nodes == 0 || setting.keys == 0 || setting.bytes == 0)
    return fail(Code::kInvalid, "a simulated pool needs nodes, keys and bytes");
  auto workload = make_workload(options.workload, setting);
  if (!workload) return std::unexpected(workload.error());
  return run(options, std::move(*workload));
}

Result<Run> run(const Options& options, std::unique_ptr<Workload> workload) {
  std::unique_ptr<Policy> policy = make_policy(options.policy, options.setting.seed);
  if (policy == nullptr) {
    return fail(Code::kInvalid, "no policy is named '" + options.policy +
                                    "'; there are cleave, static, halve, cockroach, pd, dicer");
  }
  if (options.routers == 0 || options.duration.value_or(seconds{1}) <= seconds{0})
    return fail(Code::kInvalid, "a simulation needs a router and time");
  return Engine(options, std::move(workload), std::move(policy)).run();
}

}  // namespace cleave::rehearse
