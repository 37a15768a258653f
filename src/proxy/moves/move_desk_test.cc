#include "proxy/moves/move_desk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "ring/edits/edits.h"

namespace cleave::proxy {
namespace {

using Keys = std::vector<std::string>;

constexpr ring::TokenRange kRange{Token{100}, Token{200}};

// A desk with two workers, and documents by hand.
class MoveDeskTest : public testing::Test {
 protected:
  MoveDeskTest() {
    ring::Creation creation{.pool = "p", .mark = "m", .nodes = {}, .now = UnixMillis{1}};
    for (const std::string name : {"a", "b"}) {
      const std::string address = name == "a" ? "127.0.0.1:1" : "127.0.0.1:2";
      creation.nodes.push_back(
          {.id = NodeId{}, .name = name, .members = {{.address = address, .rack = {}}}});
    }
    document = *ring::create(creation);
    show();
  }

  void show() { desk.set_view(*ring::RingView::build(document)); }

  MoveId begin() {
    const ring::RingSnapshot view = *ring::RingView::build(document);
    const NodeId source = view->owner(kRange.first);
    document = *ring::begin_move(document, {.ranges = {kRange},
                                            .source = source,
                                            .destination = NodeId{3 - source.value()},
                                            .reason = {},
                                            .now = UnixMillis{1}});
    show();
    return document.moves.back().id;
  }
  Epoch phase(MoveId move) const { return ring::find_move(document, move)->phase_epoch; }
  void fence(MoveId move) {
    document = *ring::fence_move(document, move, phase(move));
    show();
  }
  void abort(MoveId move) {
    document = *ring::abort_move(document, move, phase(move));
    show();
  }
  void both_adopt() {
    desk.adopted(0, document.epoch);
    desk.adopted(1, document.epoch);
  }

  std::optional<Result<void>> copying(MoveId move, Epoch epoch) {
    std::optional<Result<void>> answer;
    desk.await_copying(move, epoch, [&](Result<void> told) { answer = std::move(told); });
    return answer;
  }
  // The workers answer with these keys when they are asked.
  Result<peer::DirtyBatch> take(MoveId move, Epoch epoch, std::uint64_t number, Keys first = {},
                                Keys second = {}) {
    std::optional<Result<peer::DirtyBatch>> answer;
    const std::size_t asked = collected.size();
    desk.take(move, epoch, number,
              [&](Result<peer::DirtyBatch> told) { answer = std::move(told); });
    if (collected.size() > asked) {
      desk.collected(0, move, {.number = 0, .keys = std::move(first)});
      EXPECT_FALSE(answer.has_value()) << "the other worker has not answered";
      desk.collected(1, move, {.number = 0, .keys = std::move(second)});
    }
    return *answer;
  }

  std::vector<MoveId> collected;
  MoveDesk desk{{.workers = 2,
                 .limits = Limits{},
                 .mutations = {},
                 .collect = [this](MoveId move, const Keys&) { collected.push_back(move); }}};
  ring::Document document;
};

TEST_F(MoveDeskTest, CopyingIsAnsweredWhenEveryWorkerHasTheView) {
  const MoveId move = begin();
  int told = 0;
  desk.await_copying(move, phase(move), [&](const Result<void>& answer) {
    EXPECT_TRUE(answer.has_value());
    ++told;
  });
  desk.adopted(0, document.epoch);
  EXPECT_EQ(told, 0);
  desk.adopted(1, Epoch{document.epoch.value() - 1});
  EXPECT_EQ(told, 0);
  desk.adopted(1, document.epoch);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(copying(move, phase(move)).value().has_value()) << "and at once when asked again";
}

TEST_F(MoveDeskTest, AnEqualPhaseEpochOnly) {
  const MoveId move = begin();
  both_adopt();
  const Epoch epoch = phase(move);
  EXPECT_EQ(copying(move, Epoch{epoch.value() - 1})->error().code, Code::kConflict);
  EXPECT_FALSE(copying(move, Epoch{epoch.value() + 1}).has_value()) << "may still come";
  EXPECT_EQ(take(move, Epoch{epoch.value() + 1}, 1).error().code, Code::kConflict);
  fence(move);
  EXPECT_EQ(copying(move, epoch)->error().code, Code::kConflict);
  EXPECT_EQ(take(move, phase(move), 1).error().code, Code::kConflict);
}

TEST_F(MoveDeskTest, BatchesAreJoinedKeptAndNumbered) {
  const MoveId move = begin();
  const Epoch epoch = phase(move);
  EXPECT_EQ(take(move, epoch, 1, {"b", "a"}, {"b", "c"})->keys, (Keys{"a", "b", "c"}));
  EXPECT_EQ(take(move, epoch, 1)->keys, (Keys{"a", "b", "c"})) << "kept";
  EXPECT_EQ(collected.size(), 1U);
  EXPECT_EQ(take(move, epoch, 2, {"d"})->keys, Keys{"d"});
  EXPECT_EQ(take(move, epoch, 1).error().code, Code::kConflict) << "forgotten";
  EXPECT_EQ(take(move, epoch, 4).error().code, Code::kConflict);
  fence(move);
  EXPECT_EQ(take(move, epoch, 2)->keys, Keys{"d"}) << "its answer may have been lost";
  EXPECT_EQ(take(move, epoch, 3).error().code, Code::kConflict) << "that is the fence's to say";
}

TEST_F(MoveDeskTest, TwoQuestionsForOneBatchShareIt) {
  const MoveId move = begin();
  std::vector<Keys> told;
  const auto keep = [&](const Result<peer::DirtyBatch>& batch) { told.push_back(batch->keys); };
  desk.take(move, phase(move), 1, keep);
  desk.take(move, phase(move), 1, keep);
  desk.collected(0, move, {.number = 0, .keys = {"a"}});
  desk.collected(1, move, {});
  EXPECT_EQ(told, (std::vector<Keys>{{"a"}, {"a"}}));
  EXPECT_EQ(collected.size(), 1U);
}

TEST_F(MoveDeskTest, FencedIsAnsweredOnceEveryWorkerIsClear) {
  const MoveId move = begin();
  take(move, phase(move), 1, {"old"});
  fence(move);
  std::vector<peer::FencedAck> told;
  desk.await_fenced(move, phase(move),
                    [&](const Result<peer::FencedAck>& ack) { told.push_back(*ack); });
  const Incarnation first{"run1", "repl"};
  const Incarnation second{"run2", "repl"};
  desk.cleared(0, move, phase(move),
               {.last = {.number = 0, .keys = {"a"}}, .incarnations = {{NodeId{1}, {first}}}});
  desk.cleared(0, move, phase(move), {});
  EXPECT_TRUE(told.empty());
  desk.cleared(
      1, move, phase(move),
      {.last = {.number = 0, .keys = {"b"}}, .incarnations = {{NodeId{1}, {first, second}}}});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].last.keys, (Keys{"a", "b"}));
  EXPECT_EQ(told[0].last.number, 2U);
  EXPECT_EQ(told[0].incarnations.at(NodeId{1}), (std::vector{first, second}));
}

TEST_F(MoveDeskTest, WhatIsSaidOfAnotherPhaseDoesNotCount) {
  const MoveId move = begin();
  const Epoch copying_epoch = phase(move);
  fence(move);
  bool told = false;
  desk.await_fenced(move, phase(move), [&](const Result<peer::FencedAck>&) { told = true; });
  desk.cleared(0, move, copying_epoch, {});
  desk.cleared(1, move, copying_epoch, {});
  desk.cleared(0, MoveId{99}, phase(move), {});
  EXPECT_FALSE(told);
}

TEST_F(MoveDeskTest, AnAbortEndsEveryQuestion) {
  const MoveId move = begin();
  std::vector<Code> told;
  const auto keep = [&](const auto& answer) { told.push_back(answer.error().code); };
  desk.await_copying(move, phase(move), keep);
  desk.take(move, phase(move), 1, keep);
  abort(move);
  EXPECT_EQ(told, (std::vector{Code::kConflict, Code::kConflict}));
  desk.collected(0, move, {});  // late, and nobody's
  desk.collected(1, move, {});
  const MoveId again = begin();
  fence(again);
  desk.await_fenced(again, phase(again), keep);
  abort(again);
  EXPECT_EQ(told.size(), 3U);
}

TEST_F(MoveDeskTest, AWholeRangeStaysOne) {
  const MoveId move = begin();
  std::optional<peer::DirtyBatch> batch;
  desk.take(move, phase(move), 1, [&](const Result<peer::DirtyBatch>& told) { batch = *told; });
  desk.collected(0, move, {.number = 0, .keys = {}, .whole_range = true});
  desk.collected(1, move, {.number = 0, .keys = {"a"}});
  EXPECT_TRUE(batch->whole_range);
}

TEST_F(MoveDeskTest, StoppingFailsEveryQuestion) {
  const MoveId move = begin();
  std::vector<Code> told;
  const auto keep = [&](const auto& answer) { told.push_back(answer.error().code); };
  desk.await_copying(move, phase(move), keep);
  desk.await_fenced(move, Epoch{phase(move).value() + 1}, keep);
  desk.take(move, phase(move), 1, keep);
  desk.stop(Error{Code::kUnavailable, "ends"});
  EXPECT_EQ(told, (std::vector{Code::kUnavailable, Code::kUnavailable, Code::kUnavailable}));
}

// Every key that a worker reported is in exactly one batch or in the last set, whatever the order.
TEST_F(MoveDeskTest, NoKeyIsLostUnderRandomTakes) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const MoveId move = begin();
    const Epoch epoch = phase(move);
    std::vector<std::string> said;
    std::vector<std::string> got;
    std::uint64_t number = 0;
    const auto some = [&] {
      Keys keys;
      for (std::uint64_t n = rng.below(4); n > 0; --n) {
        said.push_back("k" + std::to_string(said.size()));
        keys.push_back(said.back());
      }
      return keys;
    };
    for (int step = 0; step < 10; ++step) {
      if (number > 0 && rng.chance(1, 3)) {
        take(move, epoch, number);  // again: nothing new
        continue;
      }
      const Result<peer::DirtyBatch> batch = take(move, epoch, ++number, some(), some());
      ASSERT_TRUE(batch.has_value());
      got.insert(got.end(), batch->keys.begin(), batch->keys.end());
    }
    fence(move);
    desk.cleared(0, move, phase(move), {.last = {.number = 0, .keys = some()}, .incarnations = {}});
    desk.cleared(1, move, phase(move), {.last = {.number = 0, .keys = some()}, .incarnations = {}});
    desk.await_fenced(move, phase(move), [&](const Result<peer::FencedAck>& ack) {
      got.insert(got.end(), ack->last.keys.begin(), ack->last.keys.end());
    });
    std::ranges::sort(said);
    std::ranges::sort(got);
    ASSERT_EQ(got, said);
    abort(move);
  }
}

}  // namespace
}  // namespace cleave::proxy
