#include "net/timer_heap.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace cleave::net {
namespace {

constexpr Instant at(std::int64_t n) { return Instant{n}; }

// Runs what is due and returns how many ran.
int run_due(TimerHeap& heap, Instant now) {
  int ran = 0;
  const TimerId newer = heap.upcoming();
  while (auto callback = heap.take_due(now, newer)) {
    (*callback)();
    ++ran;
  }
  return ran;
}

TEST(TimerHeap, RunsInOrderOfTimeThenAge) {
  TimerHeap heap;
  std::string order;
  heap.add(at(20), [&] { order += 'c'; });
  heap.add(at(10), [&] { order += 'a'; });
  heap.add(at(10), [&] { order += 'b'; });
  heap.add(at(99), [&] { order += 'x'; });
  EXPECT_EQ(heap.next(), at(10));
  EXPECT_EQ(run_due(heap, at(20)), 3);
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(heap.next(), at(99));
}

TEST(TimerHeap, LeavesTimersOfTheSameRoundForTheNext) {
  TimerHeap heap;
  int ran = 0;
  heap.add(at(1), [&] { heap.add(at(1), [&] { ++ran; }); });
  EXPECT_EQ(run_due(heap, at(5)), 1);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(run_due(heap, at(5)), 1);
  EXPECT_EQ(ran, 1);
}

TEST(TimerHeap, CancelOfUnknownOrRunTimersDoesNothing) {
  TimerHeap heap;
  const TimerId timer = heap.add(at(1), [] {});
  EXPECT_EQ(run_due(heap, at(1)), 1);
  heap.cancel(timer);
  heap.cancel(TimerId{});
  heap.cancel(TimerId{77});
  EXPECT_EQ(heap.next(), std::nullopt);
}

TEST(TimerHeap, CancelMayCancelAgainFromADestructor) {
  TimerHeap heap;
  const TimerId other = heap.add(at(2), [] { FAIL(); });
  struct Owner {
    TimerHeap& heap;
    TimerId other;
    ~Owner() { heap.cancel(other); }
  };
  auto owner = std::make_shared<Owner>(heap, other);
  const TimerId timer = heap.add(at(1), [owner] { FAIL(); });
  owner.reset();
  heap.cancel(timer);
  EXPECT_EQ(heap.size(), 0U);
}

// Against a plain ordered map, with mostly cancelled timers as a proxy has them.
TEST(TimerHeap, AgreesWithAnOrderedMap) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TimerHeap heap;
    std::map<std::pair<Instant, std::uint64_t>, TimerId> model;
    std::vector<std::uint64_t> ran;
    std::vector<std::uint64_t> wanted;
    Instant now = at(0);
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t what = rng.below(10);
      if (what < 5) {
        const Instant when = now + Instant{static_cast<std::int64_t>(rng.below(50))};
        const std::uint64_t id = heap.upcoming().value();
        const TimerId timer = heap.add(when, [&ran, id] { ran.push_back(id); });
        ASSERT_EQ(timer.value(), id);
        model.emplace(std::pair{when, id}, timer);
      } else if (what < 9 && !model.empty()) {
        const auto index = static_cast<std::ptrdiff_t>(rng.below(model.size()));
        const auto victim = std::next(model.begin(), index);
        heap.cancel(victim->second);
        model.erase(victim);
      } else {
        now += Instant{static_cast<std::int64_t>(rng.below(20))};
        run_due(heap, now);
        while (!model.empty() && model.begin()->first.first <= now) {
          wanted.push_back(model.begin()->first.second);
          model.erase(model.begin());
        }
      }
      ASSERT_EQ(heap.size(), model.size());
      ASSERT_EQ(ran, wanted);
    }
  }
}

}  // namespace
}  // namespace cleave::net
