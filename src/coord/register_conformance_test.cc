#include "coord/register_conformance.h"

#include <thread>

namespace cleave::coord {
namespace {

using Names = std::vector<std::string>;

TEST_P(RegisterConformance, BeginsAtEpochZero) {
  const auto one = world_->attach(*loop_);
  const auto stored = read(*one);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->epoch, Epoch{0});
  EXPECT_EQ(stored->text, "");
}

TEST_P(RegisterConformance, WritesTheNextEpoch) {
  const auto one = world_->attach(*loop_);
  const std::string text = "{\"nul\":\"\\u0000\", \"umlaut\":\"ä\"}\n" + std::string(100'000, 'x');
  EXPECT_EQ(write(*one, 0, text), Epoch{1});
  EXPECT_EQ(write(*one, 1, "second"), Epoch{2});
  EXPECT_EQ(write(*one, 2, text), Epoch{3});
  const auto stored = read(*one);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->epoch, Epoch{3});
  EXPECT_TRUE(stored->text == text);
}

// Larger than a request of etcd or a znode may be, and back to small.
TEST_P(RegisterConformance, AValueMayBeLarge) {
  const auto one = world_->attach(*loop_);
  const auto two = world_->attach(*loop_);
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1'009) large[i] = static_cast<char>(i % 251);
  Stored told;
  two->watch([&](const Stored& stored) { told = stored; });
  ASSERT_TRUE(write(*one, 0, large));
  const auto refused = write(*two, 0, large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict) << refused.error().message;
  EXPECT_TRUE(read(*two)->text == large);
  EXPECT_TRUE(eventually([&] { return told.text == large; }));
  std::ranges::reverse(large);
  const auto second = write(*two, 1, large);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(read(*one)->text == large);
  const auto third = write(*one, 2, "small");
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_TRUE(read(*two)->text == "small");
  EXPECT_TRUE(eventually([&] { return told.text == "small"; }));
}

TEST_P(RegisterConformance, AWrongEpochWritesNothing) {
  const auto one = world_->attach(*loop_);
  ASSERT_TRUE(write(*one, 0, "first"));
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    const auto refused = write(*one, wrong, "never");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
  }
  EXPECT_EQ(read(*one)->text, "first");
}

TEST_P(RegisterConformance, BeginsAtAnyEpochWhereNothingWasWritten) {
  const auto one = world_->attach(*loop_);
  const auto begin = [&](Register& at, std::uint64_t first, const std::string& text) {
    return wait<Epoch>([&](Done<Epoch> done) { at.begin(Epoch{first}, text, std::move(done)); });
  };
  const auto begun = begin(*one, 1'000'042, "restored");
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(begun->value(), 1'000'042);
  EXPECT_EQ(read(*one)->epoch, *begun);
  EXPECT_EQ(read(*world_->attach(*loop_))->text, "restored");
  EXPECT_EQ(write(*one, 1'000'042, "next")->value(), 1'000'043) << "and goes on from there";
  for (const std::uint64_t again : {1'000'042U, 1'000'044U, 1U})
    EXPECT_EQ(begin(*one, again, "twice").error().code, Code::kConflict);
  EXPECT_EQ(read(*one)->text, "next");
}

TEST_P(RegisterConformance, AnotherRegisterSeesAFinishedWrite) {
  const auto one = world_->attach(*loop_);
  const auto two = world_->attach(*loop_);
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    Register& writer = epoch % 2 == 0 ? *one : *two;
    Register& reader = epoch % 2 == 0 ? *two : *one;
    ASSERT_TRUE(write(writer, epoch, std::to_string(epoch)));
    const auto stored = read(reader);
    ASSERT_TRUE(stored);
    ASSERT_EQ(stored->epoch.value(), epoch + 1);
    ASSERT_EQ(stored->text, std::to_string(epoch));
  }
}

TEST_P(RegisterConformance, SurvivesAllItsRegisters) {
  ASSERT_TRUE(write(*world_->attach(*loop_), 0, "kept"));
  EXPECT_EQ(read(*world_->attach(*loop_))->text, "kept");
}

// Two threads, each with its loop and register, count to a sum by compare-and-set. Every success
// must be alone on its epoch.
TEST_P(RegisterConformance, OfTwoWritersExactlyOneWinsEachEpoch) {
  constexpr int kWinsEach = 100;
  struct Writer {
    std::unique_ptr<net::AsioLoop> loop = net::make_loop();
    std::unique_ptr<Register> at;
    std::vector<std::uint64_t> won;
    int conflicts = 0;
    std::string name;

    void attempt(std::uint64_t expected) {
      at->compare_and_set(Epoch{expected}, name, [this](Result<Epoch> epoch) {
        if (epoch) won.push_back(epoch->value());
        if (won.size() == kWinsEach) return loop->stop();
        if (epoch) return attempt(epoch->value());
        EXPECT_EQ(epoch.error().code, Code::kConflict) << epoch.error().message;
        ++conflicts;
        at->read([this](Result<Stored> stored) {
          ASSERT_TRUE(stored) << stored.error().message;
          attempt(stored->epoch.value());
        });
      });
    }
  };
  Writer writers[2];
  std::vector<std::thread> threads;
  for (Writer& writer : writers) {
    writer.name = &writer == &writers[0] ? "a" : "b";
    writer.at = world_->attach(*writer.loop);
  }
  for (Writer& writer : writers) {
    threads.emplace_back([&writer] {
      writer.attempt(0);
      run_bounded(*writer.loop);
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::set<std::uint64_t> epochs;
  for (const Writer& writer : writers) epochs.insert(writer.won.begin(), writer.won.end());
  EXPECT_EQ(epochs.size(), 2U * kWinsEach) << "two writers won the same epoch";
  const auto last = world_->attach(*loop_);
  EXPECT_EQ(read(*last)->epoch.value(), 2U * kWinsEach);
  for (Writer& writer : writers) writer.at.reset();
}

TEST_P(RegisterConformance, WatchTellsWhatIsThereAndEachLatest) {
  const auto writer = world_->attach(*loop_);
  const auto watcher = world_->attach(*loop_);
  ASSERT_TRUE(write(*writer, 0, "before"));
  std::vector<Stored> told;
  std::uint64_t awaited = 1;
  watcher->watch([&](const Stored& stored) {
    told.push_back(stored);
    if (stored.epoch.value() >= awaited) loop_->stop();
  });
  run_bounded(*loop_);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().text, "before");

  awaited = 32;  // not yet
  for (std::uint64_t epoch = 1; epoch < 30; ++epoch) ASSERT_TRUE(write(*writer, epoch, "x"));
  ASSERT_TRUE(write(*writer, 30, "last"));
  awaited = 31;
  if (told.back().epoch.value() < awaited) run_bounded(*loop_);
  EXPECT_EQ(told.back().text, "last");
  for (std::size_t i = 1; i < told.size(); ++i)
    EXPECT_LT(told[i - 1].epoch, told[i].epoch) << "the watch went back or said it twice";
}

TEST_P(RegisterConformance, WatchSeesItsOwnWrites) {
  const auto one = world_->attach(*loop_);
  std::vector<std::uint64_t> told;
  one->watch([&](const Stored& stored) {
    told.push_back(stored.epoch.value());
    if (stored.epoch == Epoch{3}) loop_->stop();
  });
  one->compare_and_set(Epoch{0}, "a", [&](Result<Epoch>) {
    one->compare_and_set(Epoch{1}, "b", [&](Result<Epoch>) {
      one->compare_and_set(Epoch{2}, "c", [](const Result<Epoch>&) {});
    });
  });
  run_bounded(*loop_);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 3U);
}

TEST_P(RegisterConformance, WatchIsQuietBeforeTheFirstWrite) {
  const auto one = world_->attach(*loop_);
  one->watch([](const Stored&) { FAIL() << "told of nothing"; });
  run_for(milliseconds{50});
}

TEST_P(RegisterConformance, LeasesRunOutAndAreProlonged) {
  const auto one = world_->attach(*loop_);
  const auto two = world_->attach(*loop_);
  const milliseconds ttl = world_->lease_ttl();
  EXPECT_EQ(alive(*one), Names{});
  ASSERT_TRUE(keep_alive(*two, "long", milliseconds{60'000}));
  ASSERT_TRUE(keep_alive(*one, "short", ttl));
  EXPECT_EQ(alive(*one), (Names{"long", "short"}));
  EXPECT_EQ(alive(*two), (Names{"long", "short"}));
  run_for(ttl * 2 / 3);
  ASSERT_TRUE(keep_alive(*one, "short", ttl));
  run_for(ttl * 2 / 3);
  EXPECT_EQ(alive(*two), (Names{"long", "short"})) << "keep_alive prolongs";
  const Instant kept = loop_->now();
  EXPECT_TRUE(eventually([&] { return alive(*two) == Names{"long"}; }));
  EXPECT_LT(loop_->now() - kept, ttl + seconds{3});
}

TEST_P(RegisterConformance, ALeaseThatRanOutIsGrantedAnew) {
  const auto one = world_->attach(*loop_);
  ASSERT_TRUE(keep_alive(*one, "a", world_->lease_ttl()));
  EXPECT_TRUE(eventually([&] { return alive(*one).empty(); }));
  ASSERT_TRUE(keep_alive(*one, "a", world_->lease_ttl()));
  EXPECT_EQ(alive(*one), Names{"a"});
}

TEST_P(RegisterConformance, ALeaseIsOfWhoeverKeptItLast) {
  auto one = world_->attach(*loop_);
  const auto two = world_->attach(*loop_);
  ASSERT_TRUE(keep_alive(*one, "a", milliseconds{60'000}));
  ASSERT_TRUE(keep_alive(*two, "a", milliseconds{60'000}));
  one.reset();
  run_for(milliseconds{50});
  EXPECT_EQ(alive(*two), Names{"a"});
}

TEST_P(RegisterConformance, EndLeaseEndsItAtOnce) {
  const auto one = world_->attach(*loop_);
  ASSERT_TRUE(keep_alive(*one, "b", milliseconds{60'000}));
  ASSERT_TRUE(keep_alive(*one, "a", milliseconds{60'000}));
  ASSERT_TRUE(end_lease(*one, "a"));
  ASSERT_TRUE(end_lease(*one, "never was"));
  EXPECT_EQ(alive(*one), Names{"b"});
  ASSERT_TRUE(keep_alive(*one, "a", milliseconds{60'000}));
  EXPECT_EQ(alive(*one), (Names{"a", "b"}));
}

TEST_P(RegisterConformance, LeasesLeaveTheRegisterAlone) {
  const auto one = world_->attach(*loop_);
  ASSERT_TRUE(write(*one, 0, "text"));
  ASSERT_TRUE(keep_alive(*one, "a", milliseconds{60'000}));
  ASSERT_TRUE(end_lease(*one, "a"));
  const auto stored = read(*one);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->epoch, Epoch{1});
}

TEST_P(RegisterConformance, DestroyedWithCallsOpenNeverAnswers) {
  auto one = world_->attach(*loop_);
  const auto witness = std::make_shared<int>(0);
  const auto never = [witness](const auto&) { FAIL() << "answered after its destruction"; };
  one->watch(never);
  for (std::uint64_t i = 0; i < 20; ++i) {
    one->compare_and_set(Epoch{i}, "x", never);
    one->read(never);
    one->keep_alive(SessionId{"s"}, milliseconds{1'000}, never);
    one->end_lease(SessionId{"s"}, never);
    one->alive(never);
  }
  one.reset();
  run_for(milliseconds{50});
  const auto two = world_->attach(*loop_);
  EXPECT_TRUE(read(*two)) << "the store goes on";
}

TEST_P(RegisterConformance, MayBeDestroyedInItsOwnCallbacks) {
  auto one = world_->attach(*loop_);
  one->read([&](const Result<Stored>&) { one.reset(); });
  one->read([](const Result<Stored>&) { FAIL(); });
  EXPECT_TRUE(eventually([&] { return one == nullptr; }));
  run_for(milliseconds{50});  // in which nothing may be told

  auto two = world_->attach(*loop_);
  two->watch([&](const Stored&) {
    two.reset();
    loop_->stop();
  });
  two->compare_and_set(Epoch{0}, "x", [](const Result<Epoch>&) {});
  run_bounded(*loop_);
  EXPECT_EQ(two, nullptr);
}

}  // namespace
}  // namespace cleave::coord
