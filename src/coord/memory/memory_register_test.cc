#include "coord/memory/memory_register.h"

#include <gtest/gtest.h>

#include "coord/register_conformance.h"

namespace cleave::coord {
namespace {

class MemoryWorld final : public RegisterWorld {
 public:
  std::unique_ptr<Register> attach(net::Loop& loop) override {
    return std::make_unique<MemoryRegister>(loop, store_);
  }

 private:
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

// Delays so that answers and notifications overtake each other.
class LateWorld final : public RegisterWorld {
 public:
  std::unique_ptr<Register> attach(net::Loop& loop) override {
    return std::make_unique<MemoryRegister>(loop, store_, &late_);
  }

 private:
  struct Late final : Faults {
    std::atomic<int> asked = 0;
    Fate fate(Call) override {
      const int turn = asked++;
      return {.there = microseconds{turn * 7 % 5 * 300}, .back = microseconds{turn * 5 % 3 * 300}};
    }
  };
  Late late_;
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

std::unique_ptr<RegisterWorld> make_memory_world() { return std::make_unique<MemoryWorld>(); }
std::unique_ptr<RegisterWorld> make_late_world() { return std::make_unique<LateWorld>(); }

INSTANTIATE_TEST_SUITE_P(Memory, RegisterConformance, ::testing::Values(&make_memory_world));
INSTANTIATE_TEST_SUITE_P(LateMemory, RegisterConformance, ::testing::Values(&make_late_world));

// What each kind of loss does to a compare-and-set and says of it.
TEST(MemoryRegisterFaults, LossesHaveTheEffectTheySay) {
  struct Case {
    Faults::Loss loss;
    bool effect;
    std::optional<Code> code;
  };
  const Case cases[] = {
      {Faults::Loss::kNone, true, std::nullopt},
      {Faults::Loss::kRefused, false, Code::kUnavailable},
      {Faults::Loss::kRequest, false, Code::kTimeout},
      {Faults::Loss::kReply, true, Code::kTimeout},
  };
  struct Fixed final : Faults {
    Fate next;
    Fate fate(Call call) override {
      EXPECT_EQ(call, Call::kCompareAndSet);
      return next;
    }
  };
  for (const Case& one : cases) {
    const auto loop = net::make_loop();
    const auto store = std::make_shared<MemoryStore>();
    Fixed faults;
    faults.next = {.loss = one.loss};
    MemoryRegister at(*loop, store, &faults);
    std::optional<Result<Epoch>> answer;
    at.compare_and_set(Epoch{0}, "x", [&](Result<Epoch> epoch) {
      answer = std::move(epoch);
      loop->stop();
    });
    run_bounded(*loop);
    EXPECT_EQ(store->read().epoch, Epoch{one.effect ? 1U : 0U});
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(*answer ? std::nullopt : std::optional(answer->error().code), one.code);
  }
}

TEST(MemoryRegisterFaults, ACallUnderWayOutlivesItsRegister) {
  struct Slow final : Faults {
    Fate fate(Call) override { return {.there = milliseconds{5}}; }
  } slow;
  const auto loop = net::make_loop();
  const auto store = std::make_shared<MemoryStore>();
  auto at = std::make_unique<MemoryRegister>(*loop, store, &slow);
  at->compare_and_set(Epoch{0}, "sent", [](const Result<Epoch>&) { FAIL(); });
  at.reset();
  EXPECT_EQ(store->read().epoch, Epoch{0});
  loop->after(milliseconds{20}, [&] { loop->stop(); });
  run_bounded(*loop);
  EXPECT_EQ(store->read().text, "sent");
}

}  // namespace
}  // namespace cleave::coord
