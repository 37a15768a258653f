#include "net/timer_heap.h"

#include <algorithm>
#include <utility>

namespace cleave::net {
namespace {

// Fewer husks than this are not worth a rebuild.
constexpr std::size_t kHusksKept = 64;

}  // namespace

TimerId TimerHeap::add(Instant when, Callback callback) {
  const std::uint64_t id = ++last_id_;
  callbacks_.emplace(id, std::move(callback));
  heap_.push_back(Entry{.when = when, .id = id});
  std::ranges::push_heap(heap_, std::greater<>{});
  return TimerId{id};
}

void TimerHeap::cancel(TimerId timer) {
  const auto found = callbacks_.find(timer.value());
  if (found == callbacks_.end()) return;
  // Moved out first: destroying a callback may destroy an object that cancels its own timers.
  const Callback doomed = std::move(found->second);
  callbacks_.erase(found);
  if (heap_.size() > kHusksKept + 2 * callbacks_.size()) {
    std::erase_if(heap_, [&](const Entry& entry) { return !callbacks_.contains(entry.id); });
    std::ranges::make_heap(heap_, std::greater<>{});
  }
}

std::optional<Instant> TimerHeap::next() {
  drop_husks();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().when;
}

std::optional<TimerHeap::Callback> TimerHeap::take_due(Instant now, TimerId newer) {
  drop_husks();
  if (heap_.empty()) return std::nullopt;
  const Entry first = heap_.front();
  if (first.when > now || first.id >= newer.value()) return std::nullopt;
  const auto found = callbacks_.find(first.id);
  Callback callback = std::move(found->second);
  callbacks_.erase(found);
  pop();
  return callback;
}

void TimerHeap::drop_husks() {
  while (!heap_.empty() && !callbacks_.contains(heap_.front().id)) pop();
}

void TimerHeap::pop() {
  std::ranges::pop_heap(heap_, std::greater<>{});
  heap_.pop_back();
}

}  // namespace cleave::net
