#include "sim/world/coordinator.h"

#include <algorithm>
#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kRngPurpose = 0x636F6F7264;

}  // namespace

SimCoordinator::SimCoordinator(Scheduler& scheduler, Observer observer)
    : scheduler_(scheduler), observer_(std::move(observer)), rng_(scheduler.fork(kRngPurpose)) {}

nanoseconds SimCoordinator::up_to(nanoseconds bound) {
  return nanoseconds(rng_.below(static_cast<std::uint64_t>(bound.count()) + 1));
}

nanoseconds SimCoordinator::latency() {
  return options_.latency_min + up_to(options_.latency_max - options_.latency_min);
}

Instant SimCoordinator::reachable_at(const Process& process) const {
  const auto found = cut_off_.find(process.number());
  return found == cut_off_.end() ? Instant{0} : found->second;
}

bool SimCoordinator::stopped() const { return scheduler_.now() < stopped_until_; }

Result<Epoch> SimCoordinator::compare_and_set(Epoch expected, std::string text) {
  if (stored_.epoch != expected)
    return fail(Code::kConflict, "the register is at epoch " +
                                     std::to_string(stored_.epoch.value()) + ", not " +
                                     std::to_string(expected.value()));
  stored_ = {Epoch{expected.value() + 1}, std::move(text)};
  scheduler_.note(EventKind::kDocument, stored_.epoch.value(), stored_.text);
  observer_(stored_);
  for (const auto& [number, tell] : watchers_) tell();
  return stored_.epoch;
}

template <class T>
void SimRegister::call(std::function<Result<T>()> effect, Done<T> done) {
  Scheduler& scheduler = coordinator_.scheduler_;
  SimLoop& loop = loop_;
  if (coordinator_.stopped()) {
    loop.run_at(scheduler.now() + coordinator_.latency(), [done = std::move(done)] {
      done(fail(Code::kUnavailable, "the coordinator does not answer"));
    });
    return;
  }
  const CoordinatorOptions& options = coordinator_.options_;
  const bool cut_off = coordinator_.reachable_at(loop.process()) > scheduler.now();
  const bool lost =
      cut_off || (options.lost_one_of != 0 && coordinator_.rng_.chance(1, options.lost_one_of));
  const bool arrives = !lost || (!cut_off && coordinator_.rng_.chance(1, 2));
  const Instant deadline = scheduler.now() + options.patience;
  const Instant effect_at = scheduler.now() + coordinator_.latency();
  const Instant answer_at = effect_at + coordinator_.latency();
  if (lost || answer_at > deadline)
    loop.run_at(deadline, [done] { done(fail(Code::kTimeout, "no answer of the coordinator")); });
  // The call is on its way whatever becomes of the process that made it.
  scheduler.at(effect_at, [&coordinator = coordinator_, &loop, lost, arrives, answer_at, deadline,
                           exists = loop.existence(), effect = std::move(effect),
                           done = std::move(done)] {
    if (!arrives) return;
    Result<T> result = coordinator.stopped()
                           ? Result<T>(fail(Code::kUnavailable, "the coordinator does not answer"))
                           : effect();
    if (lost || answer_at > deadline || exists.expired()) return;
    loop.run_at(answer_at, [done, result = std::move(result)] { done(result); });
  });
}

void SimRegister::read(Done<coord::Stored> done) {
  call<coord::Stored>([&coordinator = coordinator_] { return coordinator.stored_; },
                      std::move(done));
}

void SimRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  call<Epoch>([&coordinator = coordinator_, expected,
               text = std::move(text)] { return coordinator.compare_and_set(expected, text); },
              std::move(done));
}

void SimRegister::watch(std::function<void(const coord::Stored&)> changed) {
  const auto shared =
      std::make_shared<std::function<void(const coord::Stored&)>>(std::move(changed));
  watcher_ = coordinator_.next_watcher_++;
  coordinator_.watchers_[watcher_] = [this, shared] { tell_watcher(shared); };
}

void SimRegister::tell_watcher(
    const std::shared_ptr<std::function<void(const coord::Stored&)>>& changed) {
  const Instant earliest =
      std::max(coordinator_.scheduler_.now(), coordinator_.reachable_at(loop_.process()));
  const Instant when = earliest + coordinator_.up_to(coordinator_.options_.watch_max);
  loop_.run_at(when, [this, told = std::weak_ptr(told_), changed] {
    const auto newest = told.lock();
    if (newest == nullptr) return;  // the register is gone
    if (coordinator_.reachable_at(loop_.process()) > coordinator_.scheduler_.now())
      return tell_watcher(changed);  // cut off meanwhile
    const SimCoordinator& coordinator = coordinator_;
    if (coordinator.stored_.epoch <= *newest) return;
    *newest = coordinator.stored_.epoch;
    (*changed)(coordinator.stored_);
  });
}

void SimRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  call<void>(
      [&coordinator = coordinator_, session, ttl]() -> Result<void> {
        coordinator.leases_[session] = coordinator.scheduler_.now() + ttl;
        return {};
      },
      std::move(done));
}

void SimRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>(
      [&coordinator = coordinator_, session]() -> Result<void> {
        coordinator.leases_.erase(session);
        return {};
      },
      std::move(done));
}

void SimRegister::alive(Done<std::vector<SessionId>> done) {
  call<std::vector<SessionId>>(
      [&coordinator = coordinator_] {
        std::vector<SessionId> sessions;
        for (const auto& [session, until] : coordinator.leases_)
          if (until > coordinator.scheduler_.now()) sessions.push_back(session);
        return sessions;
      },
      std::move(done));
}

}  // namespace cleave::sim
