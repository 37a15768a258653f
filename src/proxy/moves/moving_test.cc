#include "proxy/moves/moving.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ring/edits/edits.h"

namespace cleave::proxy {
namespace {

using Keys = std::vector<std::string>;

// Nothing is sent here, so nobody is told anything.
struct Nobody final : CommandOwner {
  void replied(Command&, std::string_view) override {}
  void failed(Command&, const Error&, backend::Outcome) override {}
  void finished(Command&) override {}
  void dropped(Command&) override {}
};

// Tokens chosen by hand; no pipe and no worker is touched.
class MovingTest : public testing::Test {
 protected:
  MovingTest() {
    ring::Creation creation{.pool = "p", .mark = "m", .nodes = {}, .now = UnixMillis{1}};
    for (const std::string name : {"a", "b"}) {
      const std::string address = name == "a" ? "127.0.0.1:1" : "127.0.0.1:2";
      creation.nodes.push_back(
          {.id = NodeId{}, .name = name, .members = {{.address = address, .rack = {}}}});
    }
    document = *ring::create(creation);
  }

  void adopt() {
    view = *ring::RingView::build(document);
    moving.adopt(*view, unfinished);
  }
  MoveId begin(ring::TokenRange range) {
    view = *ring::RingView::build(document);
    const NodeId source = view->owner(range.first);
    document = *ring::begin_move(document, {.ranges = {range},
                                            .source = source,
                                            .destination = NodeId{3 - source.value()},
                                            .reason = {},
                                            .now = UnixMillis{1}});
    adopt();
    return document.moves.back().id;
  }
  void fence(MoveId move) {
    const Epoch copying = ring::find_move(document, move)->phase_epoch;
    document = *ring::enter_copies(document, move, copying, UnixMillis{1});
    document = *ring::fence_move(document, move, ring::find_move(document, move)->phase_epoch);
    adopt();
  }

  // A command that was sent.
  Command& sent(Token token, std::string key, bool writes) {
    Command& command = made(token, std::move(key), writes);
    unfinished.add(command);
    return command;
  }
  Command& made(Token token, std::string key, bool writes) {
    commands.push_back(std::make_unique<Command>(nobody));
    Command& command = *commands.back();
    command.writes = writes;
    command.keys = {{.token = token, .offset = 0, .size = static_cast<std::uint32_t>(key.size())}};
    command.bytes = std::move(key);
    return command;
  }
  void finish(Command& command, bool ran = true) {
    unfinished.remove(command);
    moving.finished(command, ran);
  }
  bool holds(Token token, bool writes = true) {
    Command& command = made(token, "k", writes);
    command.index = view->find(token);
    return moving.must_hold(command, *view);
  }

  struct Clear {
    MoveId move;
    Epoch phase_epoch;
    peer::FencedAck ack;
  };

  static constexpr Token kIn{150};
  static constexpr Token kOut{250};
  static constexpr ring::TokenRange kRange{Token{100}, Token{200}};

  ring::Document document;
  ring::RingSnapshot view;
  Nobody nobody;
  CommandList unfinished;
  std::vector<std::unique_ptr<Command>> commands;
  std::vector<Clear> clears;
  Moving moving{Limits{}, Mutations{}, [this](MoveId move, Epoch phase_epoch, peer::FencedAck ack) {
                  clears.push_back({move, phase_epoch, std::move(ack)});
                }};
};

TEST_F(MovingTest, NotesFinishedWritesOfTheRangeOnly) {
  const MoveId move = begin(kRange);
  finish(sent(kIn, "in", true));
  finish(sent(kOut, "out", true));
  finish(sent(kIn, "read", false));
  finish(sent(kIn, "never-left", true), /*ran=*/false);
  sent(kIn, "under-way", true);
  EXPECT_EQ(moving.take(move).keys, Keys{"in"});
  EXPECT_TRUE(moving.take(move).keys.empty());
}

TEST_F(MovingTest, AWriteSentBeforeTheMoveIsNotedWhenItFinishes) {
  Command& early = sent(kIn, "early", true);
  const MoveId move = begin(kRange);
  finish(early);
  EXPECT_EQ(moving.take(move).keys, Keys{"early"});
}

// Rule 27: what was sent before the key was watched marks all of it.
TEST_F(MovingTest, NotesTheElementsOfAWatchedKey) {
  const MoveId move = begin(kRange);
  Command& early = sent(kIn, "big", true);
  EXPECT_FALSE(moving.watching());
  moving.take(move, {"big"});
  EXPECT_TRUE(moving.watching());
  EXPECT_TRUE(moving.watches(made(kIn, "big", true), "big"));
  EXPECT_FALSE(moving.watches(made(kIn, "other", true), "other"));
  EXPECT_FALSE(moving.watches(made(kOut, "big", true), "big"));
  Command& late = sent(kIn, "big", true);
  late.elements = std::make_unique<Keys>(Keys{"f", "g"});
  finish(late);
  const peer::DirtyBatch batch = moving.take(move, {"big"});
  EXPECT_TRUE(batch.keys.empty());
  EXPECT_EQ(batch.elements, (std::vector<Touched>{{.key = "big", .elements = {"f", "g"}}}));
  finish(early);
  EXPECT_EQ(moving.take(move, {"big"}).keys, Keys{"big"});
  moving.take(move);
  EXPECT_FALSE(moving.watching());
}

TEST_F(MovingTest, NothingIsWatchedBehindTheMove) {
  const MoveId move = begin(kRange);
  moving.take(move, {"big"});
  document = *ring::abort_move(document, move, document.moves.back().phase_epoch);
  adopt();
  EXPECT_FALSE(moving.watching());
}

TEST_F(MovingTest, HoldsTheFencedRangeOnly) {
  const MoveId move = begin(kRange);
  EXPECT_FALSE(holds(kIn));
  fence(move);
  EXPECT_TRUE(holds(kIn));
  EXPECT_TRUE(holds(kIn, /*writes=*/false)) << "reads too";
  EXPECT_FALSE(holds(kOut));
  EXPECT_TRUE(holds(Token{100}));
  EXPECT_TRUE(holds(Token{200}));
  EXPECT_FALSE(holds(Token{99}));
  EXPECT_FALSE(holds(Token{201}));
}

TEST_F(MovingTest, AFenceWithNothingUnderWayIsClearAtOnce) {
  const MoveId move = begin(kRange);
  finish(sent(kIn, "k", true));
  fence(move);
  ASSERT_EQ(clears.size(), 1U);
  EXPECT_EQ(clears[0].move, move);
  EXPECT_EQ(clears[0].phase_epoch, ring::find_move(document, move)->phase_epoch);
  EXPECT_EQ(clears[0].ack.last.keys, Keys{"k"});
}

TEST_F(MovingTest, AFenceIsClearWhenTheLastCommandOfTheRangeIsFinished) {
  const MoveId move = begin(kRange);
  Command& write = sent(kIn, "w", true);
  Command& read = sent(kIn, "r", false);
  Command& other = sent(kOut, "o", true);
  fence(move);
  EXPECT_TRUE(clears.empty());
  finish(write);
  EXPECT_TRUE(clears.empty());
  finish(read);
  ASSERT_EQ(clears.size(), 1U);
  EXPECT_EQ(clears[0].ack.last.keys, Keys{"w"});
  finish(other);
  EXPECT_EQ(clears.size(), 1U);
}

TEST_F(MovingTest, AnotherChangeOfTheDocumentCountsNothingTwice) {
  const MoveId move = begin(kRange);
  Command& write = sent(kIn, "w", true);
  fence(move);
  document = *ring::set_frozen(document, true);
  adopt();
  EXPECT_TRUE(clears.empty());
  finish(write);
  EXPECT_EQ(clears.size(), 1U);
  document = *ring::set_frozen(document, false);
  adopt();
  EXPECT_EQ(clears.size(), 1U);
}

TEST_F(MovingTest, FlushallConcernsEveryMove) {
  const MoveId first = begin(kRange);
  Command& flush = sent(kOut, "", true);
  flush.kind = Command::Kind::kFlush;
  flush.keys.clear();
  fence(first);
  EXPECT_TRUE(clears.empty());
  finish(flush);
  ASSERT_EQ(clears.size(), 1U);
  EXPECT_TRUE(clears[0].ack.last.whole_range);
}

TEST_F(MovingTest, AnEndedMoveIsForgotten) {
  const MoveId move = begin(kRange);
  finish(sent(kIn, "k", true));
  document = *ring::abort_move(document, move, ring::find_move(document, move)->phase_epoch);
  adopt();
  EXPECT_TRUE(moving.idle());
  EXPECT_TRUE(moving.take(move).keys.empty());
}

TEST_F(MovingTest, ACommittedRangeIsNotHeldAndNotNoted) {
  const MoveId move = begin(kRange);
  fence(move);
  document = *ring::commit_move(document, move, ring::find_move(document, move)->phase_epoch,
                                {.incarnation = {.run_id = "run", .replication_id = "repl"}},
                                UnixMillis{2});
  adopt();
  EXPECT_FALSE(holds(kIn));
  EXPECT_TRUE(moving.idle());
}

}  // namespace
}  // namespace cleave::proxy
