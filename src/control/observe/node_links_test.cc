// The leader's connections to the servers, and what it takes from what they say.
#include "control/observe/node_links.h"

#include <gtest/gtest.h>

#include "control/world_testing.h"

namespace cleave::control {
namespace {

using backend::RingNote;

// r1 leads in term 1.
class NodeLinksTest : public testing::Test, protected ScriptedWorld {
 protected:
  NodeLinksTest() { write(first_document()); }

  NodeLinks& links(bool mark_new_servers = false) {
    if (links_ == nullptr) {
      links_ = std::make_unique<NodeLinks>(
          NodeLinks::Options{.loop = loop,
                             .writer = writer_,
                             .leader = document().leader,
                             .servers = {.mark_new_servers = mark_new_servers},
                             .limits = {},
                             .mutations = {},
                             .seed = 7,
                             .log = [this](const std::string& line) { log_.push_back(line); },
                             .copies = copies_});
      follow();
    }
    return *links_;
  }
  void follow() { links_->follow(std::make_shared<const ring::Document>(document())); }

  void poll() {
    bool polled = false;
    links().poll([&] { polled = true; });
    ASSERT_TRUE(loop.run_until([&] { return polled; }));
    loop.run_for(milliseconds{50});  // what follows from it: a note, a marker
  }
  const NodeFacts& facts(NodeId node) { return *links().facts(node); }

  Result<void> mark(const std::vector<NodeId>& nodes) {
    std::optional<Result<void>> marked;
    links().mark(nodes, [&](Result<void> said) { marked = said; });
    EXPECT_TRUE(loop.run_until([&] { return marked.has_value(); }));
    return *marked;
  }
  Result<void> take_over(const std::vector<NodeId>& nodes) {
    std::optional<Result<void>> taken;
    links().take_over(nodes, [&](Result<void> said) { taken = said; });
    EXPECT_TRUE(loop.run_until([&] { return taken.has_value(); }));
    return *taken;
  }
  RingNote note_of(const backend::VirtualRedis& server) const {
    const auto found = server.values.find("cleave:{ring}");
    return found == server.values.end() ? RingNote{} : backend::parse_ring_note(found->second);
  }
  bool connected(NodeId node) {
    const auto link = links().store(node);
    return link != nullptr && link->usable();
  }

  std::vector<std::string> log_;
  std::shared_ptr<CopyCounts> copies_ = std::make_shared<CopyCounts>();
  DocumentWriter writer_{loop, access, [](const SharedDocument&) {}, {}};
  std::unique_ptr<NodeLinks> links_;
};

// ---- connections --------------------------------------------------------------------------------

TEST_F(NodeLinksTest, EachNodeIsConnectedToInTheNameOfTheTerm) {
  links();
  ASSERT_TRUE(loop.run_until([this] { return connected(kA) && connected(kB) && connected(kC); }));
  const std::vector<std::string> names = a.names();
  EXPECT_NE(std::ranges::find(names, "cleave:r1.t1"), names.end());
  EXPECT_EQ(links().store(NodeId{9}), nullptr);
  EXPECT_EQ(links().facts(NodeId{9}), nullptr);
}

TEST_F(NodeLinksTest, ANodeThatLeftIsLetGoAndOneThatCameIsConnectedTo) {
  links();
  change([](const ring::Document& now) { return ring::drain_node(now, kC, UnixMillis{1}); });
  ring::Document without = document();
  without.nodes.pop_back();
  links().follow(std::make_shared<const ring::Document>(without));
  EXPECT_EQ(links().store(kC), nullptr);
  EXPECT_EQ(links().facts().size(), 2U);
  follow();
  EXPECT_TRUE(loop.run_until([this] { return connected(kC); }));
}

TEST_F(NodeLinksTest, ANodeWithAnotherAddressIsAnotherServer) {
  links();
  ASSERT_TRUE(loop.run_until([this] { return connected(kC); }));
  const auto before = links().store(kC);
  const auto unchanged = links().store(kA);
  backend::VirtualRedis elsewhere("elsewhere");
  loop.place({.host = "10.0.0.4", .port = 6379}, elsewhere);
  ring::Document moved = document();
  moved.nodes[2].members[0].address = "10.0.0.4:6379";
  links().follow(std::make_shared<const ring::Document>(moved));
  EXPECT_NE(links().store(kC), before);
  EXPECT_EQ(links().store(kA), unchanged);
  EXPECT_TRUE(loop.run_until([this] { return connected(kC); }));
  EXPECT_FALSE(elsewhere.names().empty());
  links_.reset();
  loop.run_for(seconds{1});
}

TEST_F(NodeLinksTest, AnOldTermGetsNoConnectionEverAgain) {
  links();
  change([](const ring::Document& now) { return ring::lead(now, kOther); });
  loop.run_for(seconds{10});
  EXPECT_FALSE(connected(kA));
  EXPECT_EQ(a.asked("CLIENT SETNAME"), 2U) << "one to drive, one to see how it does; not again";
  poll();
  EXPECT_FALSE(facts(kA).reachable);
  EXPECT_NE(facts(kA).error.find("this term has ended"), std::string::npos) << facts(kA).error;
}

TEST_F(NodeLinksTest, WhileTheCoordinatorIsAwayNoConnectionIsUsed) {
  coordinator.away = true;
  links();
  loop.run_for(seconds{5});
  EXPECT_FALSE(connected(kA));
  coordinator.away = false;
  EXPECT_TRUE(loop.run_until([this] { return connected(kA); }));
}

// ---- facts --------------------------------------------------------------------------------------

TEST_F(NodeLinksTest, APollTakesWhatEachServerSays) {
  put_keys(kA, 5, kA);
  b.role = "slave";
  c.values["cleave:{owner}"] = "another-pool";
  poll();
  EXPECT_TRUE(facts(kA).reachable);
  EXPECT_TRUE(facts(kA).marked);
  EXPECT_EQ(facts(kA).keys, 5U) << "without the marker";
  EXPECT_EQ(facts(kA).incarnation.run_id, "a-run");
  EXPECT_EQ(facts(kA).rdb_version, 11U);
  EXPECT_FALSE(facts(kB).primary);
  EXPECT_FALSE(facts(kC).marked);
  EXPECT_EQ(facts(kC).foreign_mark, "another-pool");
  ASSERT_NE(links().counters(kA), nullptr);
  EXPECT_EQ(links().counters(kA)->incarnation, facts(kA).incarnation);
}

TEST_F(NodeLinksTest, AServerThatDoesNotAnswerIsSaidToBeSo) {
  b.down = true;
  poll();
  EXPECT_TRUE(facts(kA).reachable);
  EXPECT_FALSE(facts(kB).reachable);
  EXPECT_NE(facts(kB).error.find("connection refused"), std::string::npos) << facts(kB).error;
  EXPECT_EQ(links().counters(kB), nullptr);
  b.down = false;
  loop.run_for(seconds{2});
  poll();
  EXPECT_TRUE(facts(kB).reachable);
  EXPECT_EQ(facts(kB).error, "");
  b.errors["INFO"] = "NOPERM this user has no permissions to run the 'info' command";
  poll();
  EXPECT_FALSE(facts(kB).reachable);
  EXPECT_NE(facts(kB).error.find("ACL SETUSER default +info"), std::string::npos)
      << facts(kB).error;
  EXPECT_EQ(links().counters(kB), nullptr) << "old counters are nobody's";
}

TEST_F(NodeLinksTest, AServerThatHangsDelaysThePollNoLongerThanItsTimeout) {
  poll();
  b.silent = true;
  const Instant asked = loop.now();
  poll();
  EXPECT_LE(loop.now() - asked, Limits{}.request_timeout + milliseconds{200});
  EXPECT_FALSE(facts(kB).reachable);
  EXPECT_TRUE(facts(kA).reachable);
}

TEST_F(NodeLinksTest, APollThatIsUnderWayAnswersWhoAsksMeanwhile) {
  links();
  int answered = 0;
  links().poll([&] { ++answered; });
  links().poll([&] { ++answered; });
  EXPECT_EQ(answered, 0) << "not within the call";
  ASSERT_TRUE(loop.run_until([&] { return answered == 2; }));
  EXPECT_EQ(a.asked("DBSIZE"), 1U);
}

TEST_F(NodeLinksTest, ANodeThatWentDuringThePollIsPassedOver) {
  links();
  bool polled = false;
  links().poll([&] { polled = true; });
  ring::Document without = document();
  without.nodes.pop_back();
  links().follow(std::make_shared<const ring::Document>(without));
  EXPECT_TRUE(loop.run_until([&] { return polled; }, seconds{5})) << "its answer never comes";
}

// The store of before may be held by a move: its answer is another server's.
TEST_F(NodeLinksTest, WhatTheServerOfBeforeSaysIsNotTakenForTheNewOne) {
  poll();
  const auto held = links().store(kC);
  bool polled = false;
  links().poll([&] { polled = true; });
  backend::VirtualRedis elsewhere("elsewhere");
  elsewhere.down = true;
  loop.place({.host = "10.0.0.4", .port = 6379}, elsewhere);
  ring::Document moved = document();
  moved.nodes[2].members[0].address = "10.0.0.4:6379";
  links().follow(std::make_shared<const ring::Document>(moved));
  ASSERT_TRUE(loop.run_until([&] { return polled; }, seconds{5}));
  loop.run_for(seconds{1});
  poll();
  EXPECT_FALSE(facts(kC).reachable);
  links_.reset();
  loop.run_for(seconds{1});
}

TEST_F(NodeLinksTest, CopiesOfMovesAreNotCountedAsKeys) {
  put_keys(kA, 5, kB);
  const auto made = copies_->begin(kB);
  made->keys = 3;
  poll();
  EXPECT_EQ(facts(kB).keys, 2U);
  EXPECT_EQ(facts(kB).copies, 3U);
}

TEST_F(NodeLinksTest, TheCommandTableIsLearntOnceAndAgainWhereThatFailed) {
  for (auto* server : {&a, &b, &c}) server->errors["COMMAND"] = "NOPERM no";
  poll();
  EXPECT_EQ(links().command_kinds(), nullptr);
  for (auto* server : {&a, &b, &c}) server->errors.clear();
  poll();
  ASSERT_NE(links().command_kinds(), nullptr);
  EXPECT_TRUE(links().command_kinds()->writes.contains("set"));
  EXPECT_FALSE(links().command_kinds()->writes.contains("get"));
  const std::size_t asked = a.asked("COMMAND") + b.asked("COMMAND") + c.asked("COMMAND");
  poll();
  EXPECT_EQ(a.asked("COMMAND") + b.asked("COMMAND") + c.asked("COMMAND"), asked);
}

// ---- markers ------------------------------------------------------------------------------------

TEST_F(NodeLinksTest, OnlyAnEmptyServerThatIsNobodysIsMarkedUnasked) {
  for (auto* server : {&a, &b, &c}) server->values.clear();
  b.values["somebody's"] = "key";
  c.values["cleave:{owner}"] = "another-pool";
  links(true);
  poll();
  EXPECT_EQ(a.values["cleave:{owner}"], kMark);
  EXPECT_FALSE(b.values.contains("cleave:{owner}"));
  EXPECT_EQ(c.values["cleave:{owner}"], "another-pool");
}

TEST_F(NodeLinksTest, WithoutBeingToldSoNoServerIsMarked) {
  a.values.clear();
  poll();
  EXPECT_FALSE(a.values.contains("cleave:{owner}"));
}

TEST_F(NodeLinksTest, ANewServerThatCannotBeMarkedIsInTheLog) {
  a.values.clear();
  a.errors["SET"] = "READONLY You can't write against a read only replica.";
  links(true);
  poll();
  ASSERT_FALSE(log_.empty());
  EXPECT_NE(log_[0].find("cannot mark a new server"), std::string::npos) << log_[0];
}

TEST_F(NodeLinksTest, MarkingNeedsEveryServerAndNamesTheFirstThatSaysNo) {
  a.values.clear();
  b.values["cleave:{owner}"] = "another-pool";
  const Result<void> marked = mark({kA, kB});
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, Code::kConflict);
  EXPECT_NE(marked.error().message.find("node 2"), std::string::npos) << marked.error().message;
  EXPECT_NE(marked.error().message.find("another-pool"), std::string::npos);
  EXPECT_EQ(a.values["cleave:{owner}"], kMark) << "the others are marked all the same";
  EXPECT_TRUE(facts(kA).marked) << "known without another poll";
}

TEST_F(NodeLinksTest, MarkingAnswersForNodesThatAreNotThere) {
  EXPECT_EQ(mark({NodeId{9}}).error().code, Code::kNotFound);
  EXPECT_TRUE(mark({})) << "nothing to do is done";
  a.down = true;
  const Result<void> marked = mark({kA});
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, Code::kUnavailable);
}

TEST_F(NodeLinksTest, AnotherRingsServerIsTakenOverWhereNobodyIsAtWork) {
  a.values["cleave:{owner}"] = "another-pool";
  poll();
  EXPECT_TRUE(take_over({kA}));
  EXPECT_EQ(a.values["cleave:{owner}"], kMark);
  EXPECT_EQ(facts(kA).foreign_mark, "");
}

TEST_F(NodeLinksTest, ARouterOfAnotherRingAtWorkForbidsIt) {
  a.values["cleave:{owner}"] = "another-pool";
  a.strangers[5] = "cleave:r2";  // one of ours
  EXPECT_TRUE(take_over({kA}));
  a.values["cleave:{owner}"] = "another-pool";
  a.strangers[6] = "cleave:of-another-ring";
  const Result<void> taken = take_over({kA});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kConflict);
  EXPECT_NE(taken.error().message.find("of-another-ring"), std::string::npos);
  EXPECT_EQ(a.values["cleave:{owner}"], "another-pool");
}

TEST_F(NodeLinksTest, WhereConnectionsCannotBeListedNothingIsTakenOver) {
  a.values["cleave:{owner}"] = "another-pool";
  a.errors["CLIENT LIST"] = "NOPERM no";
  const Result<void> taken = take_over({kA});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kUnavailable);
  EXPECT_EQ(a.values["cleave:{owner}"], "another-pool");
}

// ---- notes --------------------------------------------------------------------------------------

TEST_F(NodeLinksTest, AMarkedServerIsNotedOnceAndThenOnceAnHour) {
  poll();
  const RingNote first = note_of(a);
  EXPECT_EQ(first.pool, "main");
  EXPECT_EQ(first.ring, kMark);
  EXPECT_EQ(first.node, "a");
  EXPECT_EQ(first.server.size(), 32U);
  EXPECT_EQ(first.epoch, Epoch{1});
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  follow();
  poll();
  EXPECT_EQ(note_of(a).epoch, Epoch{1}) << "not with every change";
  loop.run_for(std::chrono::hours{1});
  poll();
  EXPECT_EQ(note_of(a).epoch, Epoch{2});
  EXPECT_EQ(note_of(a).server, first.server);
  EXPECT_EQ(note_of(a).adopted, first.adopted);
  loop.run_for(std::chrono::hours{2});
  const std::size_t written = a.asked("SET");
  poll();
  EXPECT_EQ(a.asked("SET"), written) << "what has not changed is not written again";
}

TEST_F(NodeLinksTest, AnUnmarkedServerGetsNoNote) {
  a.values.clear();
  poll();
  EXPECT_EQ(note_of(a), RingNote{});
}

TEST_F(NodeLinksTest, TheNoteOfAnotherRingIsWrittenAnewAndTheServerKeepsItsId) {
  a.values["cleave:{ring}"] = backend::to_text({.pool = "old",
                                                .ring = "old-ring",
                                                .node = "x",
                                                .server = "the-id",
                                                .epoch = Epoch{77},
                                                .adopted = UnixMillis{5},
                                                .written = UnixMillis{5}});
  poll();
  EXPECT_EQ(note_of(a).ring, kMark);
  EXPECT_EQ(note_of(a).server, "the-id");
  EXPECT_GT(note_of(a).adopted, UnixMillis{5});
}

TEST_F(NodeLinksTest, AFlushThatTookTheNoteDoesNotMakeItAnotherServer) {
  poll();
  poll();  // the note is known
  const std::string id = note_of(a).server;
  a.values.erase("cleave:{ring}");
  poll();
  EXPECT_EQ(note_of(a).server, id);
  a.values.erase("cleave:{ring}");
  a.run_id = "another-life";
  poll();
  EXPECT_NE(note_of(a).server, id) << "who comes back without its data is another one";
}

TEST_F(NodeLinksTest, ANoteThatCouldNotBeWrittenIsTriedAtTheNextPoll) {
  a.errors["SET"] = "OOM command not allowed when used memory > 'maxmemory'.";
  poll();
  EXPECT_EQ(note_of(a), RingNote{});
  a.errors.clear();
  poll();
  EXPECT_EQ(note_of(a).node, "a");
}

}  // namespace
}  // namespace cleave::control
