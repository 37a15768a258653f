#include "sim/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace cleave::sim {
namespace {

// Every world begins at this wall time; only its digits matter (TTLs are 13-digit numbers).
constexpr std::int64_t kWallStartMillis = 1'700'000'000'000;

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29U);
}

}  // namespace

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kPosted: return "posted";
    case EventKind::kTimer: return "timer";
    case EventKind::kTurnEnd: return "turn-end";
    case EventKind::kConnect: return "connect";
    case EventKind::kAccept: return "accept";
    case EventKind::kBytes: return "bytes";
    case EventKind::kClosed: return "closed";
    case EventKind::kDrained: return "drained";
    case EventKind::kExecuted: return "executed";
    case EventKind::kDocument: return "document";
    case EventKind::kFault: return "fault";
    case EventKind::kOperation: return "operation";
  }
  return "unknown";
}

Scheduler::Scheduler(std::uint64_t seed) : seed_(seed), trace_hash_(mixed(0, seed)) {}

UnixMillis Scheduler::wall_now() const {
  return UnixMillis{kWallStartMillis + std::chrono::duration_cast<milliseconds>(now_).count()};
}

Rng Scheduler::fork(std::uint64_t purpose) const { return Rng(mixed(mixed(1, seed_), purpose)); }

void Scheduler::at(Instant when, Callback callback) {
  std::size_t slot = callbacks_.size();
  if (free_slots_.empty()) {
    callbacks_.push_back(std::move(callback));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    callbacks_[slot] = std::move(callback);
  }
  heap_.push_back({std::max(when, now_), next_order_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Scheduler::clear() {
  // What is destroyed may ask for new events.
  while (!heap_.empty()) {
    heap_.clear();
    free_slots_.clear();
    const std::vector<Callback> dropped = std::exchange(callbacks_, {});
  }
}

bool Scheduler::step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = heap_.back();
  heap_.pop_back();
  now_ = event.when;
  ++events_;
  const Callback callback = std::exchange(callbacks_[event.slot], nullptr);
  free_slots_.push_back(event.slot);
  callback();
  return true;
}

void Scheduler::run_until(Instant end) {
  while (!heap_.empty() && heap_.front().when <= end) step();
  now_ = std::max(now_, end);
}

void Scheduler::note(EventKind kind, std::uint64_t who, std::string_view bytes) {
  trace_hash_ = mixed(trace_hash_, static_cast<std::uint64_t>(now_.count()));
  trace_hash_ = mixed(trace_hash_, who * 256 + static_cast<std::uint64_t>(kind));
  trace_hash_ = mixed(trace_hash_, xxh3_64(bytes));
  if (trace_ == nullptr) return;
  *trace_ << now_.count() / 1'000 << " us " << to_string(kind) << " #" << who << ' ';
  for (const char c : bytes.substr(0, 400)) *trace_ << (c < ' ' ? '.' : c);
  *trace_ << '\n';
}

bool Scheduler::later(const Event& left, const Event& right) {
  return left.when != right.when ? left.when > right.when : left.order > right.order;
}

}  // namespace cleave::sim
