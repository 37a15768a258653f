#include "control/begin/ring_restore.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_testing.h"
#include "coord/memory/memory_register.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

using backend::RawClient;
using backend::run_until;

// Two real servers that hold the keys of a ring, and a register that has forgotten it.
class Restoring : public testing::Test {
 protected:
  Restoring() {
    ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
    for (const backend::RedisServer* server : {&a_, &b_}) {
      ring::Node node;
      node.name = server == &a_ ? "a" : "b";
      node.members = {{net::to_string(server->address()), ""}};
      creation.nodes.push_back(node);
    }
    saved_ = *ring::create(creation);
    saved_.epoch = Epoch{42};
    for (RawClient* client : {&at_a_, &at_b_}) mark(*client, "m");
  }

  static void mark(RawClient& client, const std::string& value, std::uint64_t epoch = 40) {
    client.ask({"SET", "cleave:{owner}", value});
    client.ask({"SET", "cleave:{ring}",
                "pool main\nring " + value + "\nserver s1\nepoch " + std::to_string(epoch) + "\n"});
  }
  void fill(int keys) {
    const auto view = *ring::RingView::build(saved_);
    for (int i = 0; i < keys; ++i) {
      const std::string key = "k" + std::to_string(i);
      const bool of_a = view->owner(view->token_of(key)) == NodeId{1};
      (of_a ? at_a_ : at_b_).ask({"SET", key, "1"});
    }
  }
  Result<RestoreReport> restore(RestoreOrder order, const std::string& pool = "main") {
    std::optional<Result<RestoreReport>> report;
    RingRestore restore({.loop = *loop_,
                         .writer = writer_,
                         .credentials = {},
                         .limits = {},
                         .session = SessionId{"r1"},
                         .pool = pool},
                        std::move(order),
                        [&](Result<RestoreReport> done) { report = std::move(done); });
    restore.start();
    run_until(*loop_, [&] { return report.has_value(); });
    return *report;
  }
  RestoreOrder order() const { return {.saved = saved_}; }
  Epoch stored() const { return store_->read().epoch; }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  std::shared_ptr<coord::MemoryStore> store_ = std::make_shared<coord::MemoryStore>();
  coord::MemoryRegister access_{*loop_, store_};
  DocumentWriter writer_{*loop_, access_, [](const SharedDocument&) {}, {}};
  backend::RedisServer a_;
  backend::RedisServer b_;
  RawClient at_a_ = a_.client();
  RawClient at_b_ = b_.client();
  ring::Document saved_;
};

TEST_F(Restoring, GivesTheRingBackAboveEveryEpochThatWasHeardOf) {
  fill(300);
  mark(at_b_, "m", 41);
  const auto report = restore(order());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->written);
  EXPECT_EQ(report->keys[0].looked + report->keys[1].looked, 300);
  EXPECT_EQ(report->keys[0].elsewhere + report->keys[1].elsewhere, 0);
  EXPECT_EQ(stored().value(), 1'000'043);
  EXPECT_EQ(ring::parse_document(store_->read().text)->cuts, saved_.cuts);
  const auto note = backend::parse_ring_note(at_a_.ask({"GET", "cleave:{ring}"}));
  EXPECT_EQ(note.epoch, stored()) << "so that the next restoration begins above this one";
  EXPECT_EQ(note.server, "s1");
}

TEST_F(Restoring, ADryRunWritesNothing) {
  fill(10);
  RestoreOrder dry = order();
  dry.dry_run = true;
  EXPECT_FALSE(restore(dry)->written);
  EXPECT_EQ(stored(), Epoch{});
}

TEST_F(Restoring, KeysThatLieElsewhereSpeakAgainstIt) {
  fill(300);
  for (int i = 0; i < 20; ++i) {
    const std::string key = "wrong" + std::to_string(i);
    const auto view = *ring::RingView::build(saved_);
    const bool of_a = view->owner(view->token_of(key)) == NodeId{1};
    (of_a ? at_b_ : at_a_).ask({"SET", key, "1"});
  }
  const auto refused = restore(order());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find("20 of 320 keys"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(stored(), Epoch{});
  RestoreOrder forced = order();
  forced.force = true;
  EXPECT_TRUE(restore(forced)->written);
}

// What an aborted move has left is at its owner too.
TEST_F(Restoring, CopiesOfKeysThatTheirOwnerHasAreNoDoubt) {
  fill(300);
  for (int i = 0; i < 300; ++i) at_a_.ask({"SET", "k" + std::to_string(i), "1"});
  const auto report = restore(order());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->keys[0].elsewhere, 0);
  EXPECT_EQ(report->keys[0].lost, 0);
}

// The saved ring is of the moment at which a move of this key from a to b was under way.
class RestoringMidMove : public Restoring {
 protected:
  RestoringMidMove() {
    fill(300);
    const auto view = *ring::RingView::build(saved_);
    while (view->owner(view->token_of(key_)) != NodeId{1}) key_ += "x";
    const Token token = view->token_of(key_);
    saved_.moves = {{.id = MoveId{41},
                     .ranges = {{token, token}},
                     .source = NodeId{1},
                     .destination = NodeId{2},
                     .phase = ring::Phase::kCopying,
                     .phase_epoch = Epoch{41},
                     .reason = "hot",
                     .started = UnixMillis{1}}};
  }

  std::string key_ = "moved";
};

// It was committed afterwards: one key of hundreds, which no sample would doubt, is at b alone.
TEST_F(RestoringMidMove, OneKeyThatItsOwnerDoesNotHaveIsADoubt) {
  for (int i = 0; i < 2'000; ++i) at_b_.ask({"SET", "copy" + std::to_string(i), "1"});
  for (int i = 0; i < 2'000; ++i) at_a_.ask({"SET", "copy" + std::to_string(i), "1"});
  at_b_.ask({"SET", key_, "1"});
  const auto refused = restore(order());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1 of 1 keys that move 41 may have left at b are not at "
                                         "their owner (" +
                                         key_ + ")"),
            std::string::npos)
      << refused.error().message;
  RestoreOrder dry = order();
  dry.dry_run = true;
  const auto report = restore(dry);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->under.at(0).lost, 1);
  EXPECT_EQ(report->doubts.size(), 1U);
}

TEST_F(RestoringMidMove, ACopyIsNoDoubt) {
  at_a_.ask({"SET", key_, "1"});
  at_b_.ask({"SET", key_, "1"});
  const auto report = restore(order());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->under.at(0).elsewhere, 1);
  EXPECT_EQ(report->under.at(0).lost, 0);
  EXPECT_EQ(report->kept.at(0).move, MoveId{41});
}

// Beyond the first pages that are a fair sample of what has no entry.
TEST_F(RestoringMidMove, AllKeysAreLookedAtWhereCopiesMayLie) {
  at_a_.ask({"SET", key_, "1"});
  for (RawClient* client : {&at_a_, &at_b_})
    client->ask({"EVAL", "for i = 1, 25000 do redis.call('SET', 'many:' .. i, '1') end", "0"});
  const auto report = restore(order());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->keys[0].looked, 22'000);
  EXPECT_GT(report->keys[1].looked, 25'000);
}

TEST_F(Restoring, AServerOfAnotherRingOrOneThatIsAwaySpeaksAgainstIt) {
  mark(at_b_, "other");
  EXPECT_NE(restore(order()).error().message.find("belongs to another ring"), std::string::npos);
  b_.kill();
  EXPECT_NE(restore(order()).error().message.find("cannot be asked"), std::string::npos);
  EXPECT_EQ(stored(), Epoch{});
}

TEST_F(Restoring, AServerThatHasHeardOfALaterEpochSpeaksAgainstIt) {
  mark(at_b_, "m", 43);
  EXPECT_NE(restore(order()).error().message.find("heard of epoch 43"), std::string::npos);
}

TEST_F(Restoring, ARouterAtWorkStopsIt) {
  at_a_.ask({"CLIENT", "SETNAME", "cleave:old"});
  EXPECT_NE(restore(order()).error().message.find("at work on a"), std::string::npos);
}

TEST_F(Restoring, AnotherPoolsRingNeedsToBeRenamed) {
  EXPECT_EQ(restore(order(), "shop").error().code, Code::kInvalid);
  RestoreOrder renamed = order();
  renamed.rename = true;
  ASSERT_TRUE(restore(renamed, "shop"));
  EXPECT_EQ(ring::parse_document(store_->read().text)->pool, "shop");
}

TEST_F(Restoring, NeverOverARing) {
  const std::string text = ring::to_text(saved_);
  ASSERT_TRUE(store_->begin(saved_.epoch, text));
  EXPECT_EQ(restore(order()).error().code, Code::kConflict);
  EXPECT_EQ(store_->read().text, text);
}

}  // namespace
}  // namespace cleave::control
