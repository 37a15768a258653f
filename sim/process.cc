#include "sim/process.h"

namespace cleave::sim {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

Instant Process::shown_at(Instant when) const {
  const std::int64_t count = when.count();
  return Instant{count + count * rate_ / kMillion};
}

Instant Process::when_it_shows(Instant steady) const {
  Instant when{steady.count() * kMillion / (kMillion + rate_)};
  while (shown_at(when) < steady) ++when;
  return when;
}

void Process::run_at(Instant when, Scheduler::Callback callback) {
  if (!alive_) return;
  scheduler_.at(when, [this, life = life_, todo = std::move(callback)]() mutable {
    run(life, std::move(todo));
  });
}

void Process::resume() {
  if (!paused_) return;
  paused_ = false;
  std::vector<Scheduler::Callback> waiting;
  waiting.swap(waiting_);
  for (Scheduler::Callback& callback : waiting) run_at(scheduler_.now(), std::move(callback));
}

void Process::crash() {
  alive_ = false;
  paused_ = false;
  waiting_.clear();
}

void Process::start() {
  if (alive_) return;
  alive_ = true;
  ++life_;
}

void Process::run(std::uint64_t life, Scheduler::Callback callback) {
  if (!alive_ || life != life_) return;
  if (paused_) {
    waiting_.push_back(std::move(callback));
    return;
  }
  callback();
}

}  // namespace cleave::sim
