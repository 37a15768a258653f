#include "backend/fifo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "base/rng.h"

namespace cleave::backend {
namespace {

TEST(Fifo, BehavesAsADequeUnderRandomPushesAndPops) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Fifo<std::uint64_t> fifo;
    std::deque<std::uint64_t> model;
    for (int step = 0; step < 400; ++step) {
      if (rng.chance(3, 5)) {
        const std::uint64_t value = rng.next();
        fifo.push(value);
        model.push_back(value);
      } else if (!model.empty()) {
        fifo.pop();
        model.pop_front();
      }
      ASSERT_EQ(fifo.size(), model.size());
      if (model.empty()) continue;
      ASSERT_EQ(fifo.front(), model.front());
      const std::size_t index = rng.below(model.size());
      ASSERT_EQ(fifo[index], model[index]);
    }
  }
}

TEST(Fifo, GivesMemoryBackOnceEmptyAfterAFlood) {
  Fifo<int> fifo;
  for (int i = 0; i < 100'000; ++i) fifo.push(i);
  while (!fifo.empty()) fifo.pop();
  EXPECT_EQ(fifo.capacity(), 0U);
}

TEST(Fifo, KeepsItsMemoryWhileSmall) {
  Fifo<int> fifo;
  fifo.push(1);
  const std::size_t before = fifo.capacity();
  fifo.pop();
  EXPECT_EQ(fifo.capacity(), before);
}

}  // namespace
}  // namespace cleave::backend
