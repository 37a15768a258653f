#include "sim/world/coordinator.h"

#include <algorithm>
#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kCoordinatorRng = 0x636F6F7264;

}  // namespace

SimCoordinator::SimCoordinator(Scheduler& scheduler, Network& network, Observer observer)
    : scheduler_(scheduler),
      network_(network),
      observer_(std::move(observer)),
      rng_(scheduler.fork(kCoordinatorRng)) {}

nanoseconds SimCoordinator::up_to(nanoseconds bound) {
  return nanoseconds(rng_.below(static_cast<std::uint64_t>(bound.count()) + 1));
}

nanoseconds SimCoordinator::latency() {
  return options_.latency_min + up_to(options_.latency_max - options_.latency_min);
}

void SimCoordinator::extend_leases(nanoseconds by) {
  for (auto& [session, until] : leases_) until = std::max(until, scheduler_.now()) + by;
}

bool SimCoordinator::stopped() const { return scheduler_.now() < stopped_until_; }

Result<Epoch> SimCoordinator::replace(Epoch expected, Epoch next, std::string text) {
  ++writes_tried_;
  if (stored_.epoch != expected)
    return fail(Code::kConflict, "the register is at epoch " +
                                     std::to_string(stored_.epoch.value()) + ", not " +
                                     std::to_string(expected.value()));
  stored_ = {next, std::move(text)};
  scheduler_.note(EventKind::kDocument, stored_.epoch.value(), stored_.text);
  observer_(stored_);
  for (const auto& [number, tell] : watchers_) tell();
  return stored_.epoch;
}

// How many of them may be open: what is repeated whether it was answered or not, for as long as an
// answer may take.
std::size_t SimRegister::open_max(Asked asked) const {
  const auto times = [this](nanoseconds every) {
    return static_cast<std::size_t>(coordinator_.options_.patience / every) + 2;
  };
  // A router's clock may run fast, by a hundredth.
  const nanoseconds lease = nanoseconds(coordinator_.lease_) * 98 / 100;
  switch (asked) {
    case Asked::kRead:
    case Asked::kWrite: return 1;
    case Asked::kLease: return times(lease * 9 / 20) + 1;  // and its end
    case Asked::kAlive: return times(lease / 3);
  }
  return 0;
}

template <class T>
SimRegister::Done<T> SimRegister::counted(Asked asked, Done<T> done) {
  const auto kind = static_cast<std::size_t>(asked);
  if (++open_[kind] > open_max(asked) && coordinator_.crowds_.empty())
    coordinator_.crowds_.push_back("coordinator: " + loop_.process().host() + " waits for " +
                                   std::to_string(open_[kind]) + " answers of kind " +
                                   std::to_string(kind));
  return [this, kind, open = true, exists = std::weak_ptr(told_),
          done = std::move(done)](Result<T> result) mutable {
    if (!exists.expired() && std::exchange(open, false)) --open_[kind];
    done(std::move(result));
  };
}

template <class T>
void SimRegister::call(Asked asked, std::function<Result<T>()> effect, Done<T> caller) {
  const Done<T> done = counted(asked, std::move(caller));
  Scheduler& scheduler = coordinator_.scheduler_;
  SimLoop& loop = loop_;
  if (coordinator_.stopped()) {
    loop.run_at(scheduler.now() + coordinator_.latency(),
                [done] { done(fail(Code::kUnavailable, "the coordinator does not answer")); });
    return;
  }
  const CoordinatorOptions& options = coordinator_.options_;
  const std::string& host = loop.process().host();
  // What meets a partition is held and arrives when it has ended, or never.
  const Instant free_at = coordinator_.network_.link_free_at(host, SimCoordinator::kHost);
  const bool held_for_ever = free_at > scheduler.now() && coordinator_.rng_.chance(1, 2);
  const bool lost = held_for_ever ||
                    (options.lost_one_of != 0 && coordinator_.rng_.chance(1, options.lost_one_of));
  const bool arrives = !lost || (!held_for_ever && coordinator_.rng_.chance(1, 2));
  const Instant deadline = scheduler.now() + options.patience;
  const Instant effect_at = std::max(scheduler.now(), free_at) + coordinator_.latency();
  const auto time_out = [&loop, deadline, done] {
    loop.run_at(deadline, [done] { done(fail(Code::kTimeout, "no answer of the coordinator")); });
  };
  const bool unheard = lost || effect_at > deadline;
  if (unheard) time_out();
  if (!arrives) return;
  // The call is on its way whatever becomes of the process that made it.
  scheduler.at(effect_at, [&coordinator = coordinator_, &loop, unheard, deadline, time_out,
                           exists = loop.existence(), effect = std::move(effect), done] {
    Result<T> result = coordinator.stopped()
                           ? Result<T>(fail(Code::kUnavailable, "the coordinator does not answer"))
                           : effect();
    if (unheard || exists.expired()) return;
    const Instant now = coordinator.scheduler_.now();
    const Instant back =
        coordinator.network_.link_free_at(SimCoordinator::kHost, loop.process().host());
    const Instant answer_at = std::max(now, back) + coordinator.latency();
    if (answer_at > deadline) return time_out();
    loop.run_at(answer_at, [done, result = std::move(result)] { done(result); });
  });
}

void SimRegister::read(Done<coord::Stored> done) {
  call<coord::Stored>(
      Asked::kRead, [&coordinator = coordinator_] { return coordinator.stored_; }, std::move(done));
}

void SimRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  call<Epoch>(
      Asked::kWrite,
      [&coordinator = coordinator_, expected, text = std::move(text)] {
        return coordinator.replace(expected, Epoch{expected.value() + 1}, text);
      },
      std::move(done));
}

void SimRegister::begin(Epoch first, std::string text, Done<Epoch> done) {
  call<Epoch>(
      Asked::kWrite,
      [&coordinator = coordinator_, first, text = std::move(text)] {
        return coordinator.replace(Epoch{}, first, text);
      },
      std::move(done));
}

void SimRegister::watch(std::function<void(const coord::Stored&)> changed) {
  const auto shared =
      std::make_shared<std::function<void(const coord::Stored&)>>(std::move(changed));
  watcher_ = coordinator_.next_watcher_++;
  coordinator_.watchers_[watcher_] = [this, shared] { tell_watcher(shared); };
}

// Read at some moment after the change, heard some time after that.
void SimRegister::tell_watcher(const Changed& changed) {
  SimCoordinator& coordinator = coordinator_;
  const nanoseconds longest = coordinator.options_.watch_max;
  const Instant now = coordinator.scheduler_.now();
  const Instant free_at =
      coordinator.network_.link_free_at(SimCoordinator::kHost, loop_.process().host());
  const Instant when = std::max(now, free_at) + coordinator.up_to(longest);
  loop_.run_at(when, [this, newest = std::weak_ptr(told_), changed, longest] {
    if (newest.expired()) return;  // the register is gone
    const Instant heard = coordinator_.scheduler_.now();
    if (coordinator_.network_.link_free_at(SimCoordinator::kHost, loop_.process().host()) > heard)
      return tell_watcher(changed);                    // cut off meanwhile
    if (coordinator_.stored_.epoch <= *told_) return;  // told already: several changes, one call
    const std::uint32_t repeat = coordinator_.options_.repeat_one_of;
    const int times = repeat != 0 && coordinator_.rng_.chance(1, repeat) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      loop_.run_at(heard + coordinator_.up_to(longest / 4),
                   [this, newest, changed, read = coordinator_.stored_] {
                     if (!newest.expired()) deliver(changed, read);
                   });
    }
  });
}

void SimRegister::deliver(const Changed& changed, const coord::Stored& read) {
  if (read.epoch < *told_) return;  // epochs never go back
  *told_ = read.epoch;
  (*changed)(read);
}

void SimRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  call<void>(
      Asked::kLease,
      [&coordinator = coordinator_, session, ttl]() -> Result<void> {
        coordinator.leases_[session] = coordinator.scheduler_.now() + ttl;
        return {};
      },
      std::move(done));
}

void SimRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>(
      Asked::kLease,
      [&coordinator = coordinator_, session]() -> Result<void> {
        coordinator.leases_.erase(session);
        return {};
      },
      std::move(done));
}

void SimRegister::alive(Done<std::vector<SessionId>> done) {
  call<std::vector<SessionId>>(
      Asked::kAlive,
      [&coordinator = coordinator_] {
        std::vector<SessionId> sessions;
        for (const auto& [session, until] : coordinator.leases_)
          if (until > coordinator.scheduler_.now()) sessions.push_back(session);
        return sessions;
      },
      std::move(done));
}

}  // namespace cleave::sim
