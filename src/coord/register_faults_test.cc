#include "coord/register_faults.h"

namespace cleave::coord {
namespace {

using Names = std::vector<std::string>;

TEST_P(RegisterFaults, KilledAndStartedAgainAllIsWellByItself) {
  const auto one = world_->attach(*loop_);
  const auto two = world_->attach(*loop_);
  std::uint64_t told = 0;
  two->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  ASSERT_TRUE(write(*one, 0, "before"));
  ASSERT_TRUE(keep_alive(*one, "a", seconds{30}));
  EXPECT_TRUE(eventually([&] { return told == 1; }));

  world_->process().kill();
  run_for(milliseconds{100});  // the ends of the connections arrive
  std::vector<Error> errors;
  const auto keep_error = [&](const auto& answer) {
    ASSERT_FALSE(answer);
    errors.push_back(answer.error());
  };
  one->read(keep_error);
  one->compare_and_set(Epoch{1}, "never", keep_error);
  one->keep_alive(SessionId{"a"}, seconds{30}, keep_error);
  one->alive(keep_error);
  EXPECT_TRUE(eventually([&] { return errors.size() == 4; }));
  for (const Error& error : errors) EXPECT_EQ(error.code, Code::kUnavailable) << error.message;

  world_->start_again();
  EXPECT_TRUE(eventually([&] { return read(*one).has_value(); }));
  EXPECT_EQ(read(*one)->text, "before") << "a write that was refused for certain was done";
  EXPECT_TRUE(eventually([&] { return keep_alive(*one, "a", seconds{30}).has_value(); }));
  EXPECT_EQ(alive(*one), Names{"a"});
  ASSERT_TRUE(write(*one, 1, "after"));
  EXPECT_TRUE(eventually([&] { return told == 2; })) << "the watch is deaf after the restart";
}

TEST_P(RegisterFaults, AsleepItIsATimeoutAndThenAllIsWell) {
  const auto one = world_->attach(*loop_);
  ASSERT_TRUE(write(*one, 0, "before"));
  world_->process().freeze();
  const auto unknown = write(*one, 1, "perhaps");
  world_->process().thaw();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kTimeout) << unknown.error().message;
  EXPECT_TRUE(eventually([&] { return read(*one).has_value(); }));
  const auto stored = read(*one);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->text, stored->epoch == Epoch{2} ? "perhaps" : "before");
  EXPECT_TRUE(write(*one, stored->epoch.value(), "after"));
}

TEST_P(RegisterFaults, ALostAnswerIsUnknownAndTheWriteIsThere) {
  Forwarder way(*loop_, world_->address());
  const auto one = world_->attach_by(*loop_, way);
  ASSERT_TRUE(write(*one, 0, "first"));
  way.swallow_answers(true);
  const auto unknown = write(*one, 1, "second");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kTimeout) << unknown.error().message;
  const auto direct = world_->attach(*loop_);
  EXPECT_EQ(read(*direct)->text, "second");
  way.swallow_answers(false);
  EXPECT_TRUE(eventually([&] {
    const auto stored = read(*one);
    return stored && stored->epoch == Epoch{2};
  }));
}

// The way is whole again at once: asking again would be answered, with a conflict that is our own.
TEST_P(RegisterFaults, AnAnswerLostWithItsConnectionIsUnknownToo) {
  Forwarder way(*loop_, world_->address());
  const auto one = world_->attach_by(*loop_, way);
  ASSERT_TRUE(write(*one, 0, "first"));
  way.swallow_answers(true);
  std::optional<Result<Epoch>> answer;
  one->compare_and_set(Epoch{1}, "second", [&](Result<Epoch> epoch) { answer = std::move(epoch); });
  run_for(milliseconds{200});
  ASSERT_FALSE(answer.has_value());
  way.cut();
  way.swallow_answers(false);
  way.mend();
  EXPECT_TRUE(eventually([&] { return answer.has_value(); }));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code, Code::kTimeout) << answer->error().message;
  EXPECT_TRUE(eventually([&] {
    const auto stored = read(*one);
    return stored && stored->text == "second";
  }));
}

TEST_P(RegisterFaults, WithoutAWayNothingIsWrittenForCertain) {
  Forwarder way(*loop_, world_->address());
  const auto one = world_->attach_by(*loop_, way);
  ASSERT_TRUE(write(*one, 0, "first"));
  way.cut();
  run_for(milliseconds{100});
  const auto refused = write(*one, 1, "never");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << refused.error().message;
  const auto direct = world_->attach(*loop_);
  EXPECT_EQ(read(*direct)->epoch, Epoch{1});
}

TEST_P(RegisterFaults, TheWatchHearsWhatHappenedWhileItWasCutOff) {
  Forwarder way(*loop_, world_->address());
  const auto watcher = world_->attach_by(*loop_, way);
  const auto writer = world_->attach(*loop_);
  ASSERT_TRUE(write(*writer, 0, "first"));
  std::vector<std::uint64_t> told;
  watcher->watch([&](const Stored& stored) { told.push_back(stored.epoch.value()); });
  EXPECT_TRUE(eventually([&] { return !told.empty() && told.back() == 1; }));
  for (std::uint64_t epoch = 1; epoch < 4; ++epoch) {
    way.cut();
    run_for(milliseconds{100});
    ASSERT_TRUE(write(*writer, epoch, "meanwhile"));
    way.mend();
    EXPECT_TRUE(eventually([&] { return told.back() == epoch + 1; })) << "at " << epoch;
  }
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LT(told[i - 1], told[i]);
}

}  // namespace
}  // namespace cleave::coord
