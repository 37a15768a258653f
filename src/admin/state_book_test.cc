#include "admin/state_book.h"

#include <gtest/gtest.h>

#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

// A router whose pool has the nodes a and b, both up.
class StateBookTest : public ::testing::Test {
 protected:
  StateBookTest() {
    for (const std::uint32_t id : {1U, 2U}) {
      proxy::NodeHealth health;
      health.node = NodeId{id};
      health.up = true;
      health.identity.incarnation = {"run-" + std::to_string(id), "repl"};
      health.identity.primary = true;
      health_.push_back(health);
    }
    look();
  }

  // What is told, a line each.
  std::string look(std::int64_t ms = 1'000) {
    now_ms_ += ms;
    const Seen seen{
        .status = operator_.state, .health = health_, .router = stats_, .store = store_};
    std::string told;
    for (const StateChange& change : book_.look(observe(seen, book_), UnixMillis{now_ms_})) {
      told +=
          change.event + (change.node.empty() ? "" : " " + change.node) + ": " + change.text + "\n";
    }
    return told;
  }

  // The leader asks servers.
  control::NodeFacts& facts() {
    if (operator_.state.nodes.empty()) {
      control::NodeFacts facts;
      facts.node = NodeId{1};
      facts.reachable = true;
      facts.marked = true;
      facts.eviction_policy = "noeviction";
      operator_.state.nodes.push_back(facts);
    }
    return operator_.state.nodes.front();
  }

  void change(const std::function<void(ring::Document&)>& edit) {
    ring::Document document = operator_.state.view->document();
    edit(document);
    operator_.state.view = *ring::RingView::build(document);
  }

  std::int64_t now_ms_ = 1'000'000;
  RecordingOperator operator_;
  std::vector<proxy::NodeHealth> health_;
  proxy::RouterStats stats_;
  bool store_ = true;
  StateBook book_;
};

TEST_F(StateBookTest, TellsNothingWhileNothingChanges) {
  EXPECT_EQ(look(), "");
  EXPECT_EQ(look(), "");
}

TEST_F(StateBookTest, ANodeGoesDownAndComesBackWithOneLineEach) {
  health_[0].up = false;
  health_[0].error = "127.0.0.1:7001: Connection refused";
  EXPECT_EQ(look(), "node-down a: node a is down: 127.0.0.1:7001: Connection refused\n");
  health_[0].error = "127.0.0.1:7001: it did not answer";  // other words for the same
  EXPECT_EQ(look(1'200), "");
  health_[0].up = true;
  EXPECT_EQ(look(2'000), "node-down-over a: node a is up again, after 3.2 s\n");
}

// By the counters of what clients were answered: nobody else may hear it.
TEST_F(StateBookTest, AServerThatRefusesCommandsIsToldOnceAndWhenItHasStopped) {
  proxy::NodeTraffic traffic{.node = NodeId{1}};
  const auto count = [&](proxy::ErrorCause cause) -> std::uint64_t& {
    return traffic.errors[static_cast<std::size_t>(cause)];
  };
  const auto look_at = [&](std::int64_t ms) {
    stats_.nodes = {traffic};
    return look(ms);
  };
  count(proxy::ErrorCause::kOther) = 5;  // the commands' own fault
  EXPECT_EQ(look_at(1'000), "");
  count(proxy::ErrorCause::kOom) = 3;
  EXPECT_EQ(look_at(1'000), "node-refuses-commands a: node a refuses commands of clients: oom\n");
  count(proxy::ErrorCause::kMisconf) = 1;
  EXPECT_EQ(look_at(9'000), "") << "other words for the same";
  EXPECT_EQ(book_.standing().begin()->second.text,
            "node a refuses commands of clients: oom, misconf");
  EXPECT_EQ(look_at(9'000), "");
  EXPECT_EQ(look_at(2'000),
            "node-refuses-commands-over a: node a has refused no command lately, after 20 s\n");
}

TEST_F(StateBookTest, AServerThatRestsFromMovesIsToldInItsWords) {
  facts().refuses = "OOM command not allowed";
  EXPECT_EQ(look(), "node-refuses-moves a: node a rests from moves: OOM command not allowed\n");
  facts().refuses = "";
  EXPECT_EQ(look(1'000),
            "node-refuses-moves-over a: node a may take part in moves again, after 1.0 s\n");
}

TEST_F(StateBookTest, ThatNoMoreClientsAreAcceptedIsToldOnce) {
  stats_.accepting = false;
  EXPECT_TRUE(look().starts_with("accepting-paused: accepting clients pauses: "));
  EXPECT_EQ(look(), "");
  stats_.accepting = true;
  EXPECT_EQ(look(), "accepting-paused-over: accepting clients again, after 2.0 s\n");
}

TEST_F(StateBookTest, AServerThatSaysNoIsNotDown) {
  health_[1].up = false;
  for (const char* words :
       {"ERR max number of clients reached", "AUTH was refused: WRONGPASS invalid username",
        "LOADING Redis is loading the dataset in memory",
        "the server is in cluster mode (redis_mode:cluster) and would refuse keys"}) {
    health_[1].error = words;
    look();
    EXPECT_TRUE(book_.standing().contains({Trouble::kNodeRefusing, "b"})) << words;
    EXPECT_FALSE(book_.standing().contains({Trouble::kNodeDown, "b"})) << words;
  }
  EXPECT_NE(book_.standing().begin()->second.text.find("in cluster mode"), std::string::npos);
  health_[1].error = "10.0.0.1:7001: Connection refused";
  EXPECT_EQ(look(),
            "node-refusing-over b: node b serves again, after 4.0 s\n"
            "node-down b: node b is down: 10.0.0.1:7001: Connection refused\n");
}

TEST_F(StateBookTest, OneThatWasNeverAskedIsUnknown) {
  health_[0] = {.node = NodeId{1}, .up = false, .error = "not asked yet", .identity = {}};
  EXPECT_EQ(look(), "");
}

TEST_F(StateBookTest, ARoleThatChangesIsTold) {
  health_[0].identity.primary = false;
  EXPECT_EQ(look(),
            "node-replica a: node a is a replica: it takes no writes, and no move touches it\n");
  health_[0].identity.primary = true;
  EXPECT_EQ(look(), "node-replica-over a: node a is a primary again, after 1.0 s\n");
}

TEST_F(StateBookTest, TwoNamesOfOneServerAreFoundByItsRunId) {
  health_[1].identity.incarnation.run_id = health_[0].identity.incarnation.run_id;
  EXPECT_EQ(look(),
            "node-twin a: node a is the same server as node b: drain and remove one of the two\n"
            "node-twin b: node b is the same server as node a: drain and remove one of the two\n");
}

TEST_F(StateBookTest, KeysThatNoClientReachesAreTold) {
  facts().databases = {{.number = 3, .keys = 500}};
  EXPECT_EQ(look(),
            "node-other-databases a: node a holds keys that no client reaches through a router, in "
            "database 3 (500 keys)\n");
  facts().databases.clear();
  EXPECT_EQ(look(),
            "node-other-databases-over a: node a holds keys in database 0 only, after 1.0 s\n");
}

TEST_F(StateBookTest, FullAtNinetyNinePercentUntilBelowNinetyFive) {
  facts().memory_bytes_max = 1'000;
  facts().memory_bytes = 985;
  EXPECT_EQ(look(), "");
  facts().memory_bytes = 991;
  EXPECT_EQ(look(), "node-full a: node a is full: it uses 991 of 1000 bytes and refuses writes\n");
  facts().memory_bytes = 960;
  EXPECT_EQ(look(), "");
  facts().reachable = false;  // nothing is known now: nothing is over
  EXPECT_EQ(look(), "");
  facts().reachable = true;
  facts().memory_bytes = 900;
  EXPECT_EQ(look(), "");
}

TEST_F(StateBookTest, EvictionIsWrongInAStoreOnly) {
  facts().eviction_policy = "allkeys-lru";
  facts().memory_bytes_max = 1'000;
  facts().memory_bytes = 1'000;  // it evicts, so it is not full
  EXPECT_EQ(look(),
            "node-evicts a: node a may delete keys: maxmemory-policy is allkeys-lru, but the pool "
            "is a store; set noeviction, or say 'kind: cache'\n");
  store_ = false;
  EXPECT_EQ(look(), "node-evicts-over a: node a evicts nothing any more, after 1.0 s\n");
}

TEST_F(StateBookTest, AMissingMarkerIsGivenAMoment) {
  facts().marked = false;
  EXPECT_EQ(look(), "");
  EXPECT_EQ(look(2'900), "");
  EXPECT_EQ(look(100),
            "node-unmarked a: node a is not adopted: no move touches it; see `cleave adopt`\n");
  facts().marked = true;
  EXPECT_NE(look().find("carries this pool's marker now"), std::string::npos);
}

TEST_F(StateBookTest, ALeaderThatLeadsNoMoreForgetsInSilence) {
  facts().foreign_writes = true;
  facts().unattributed_writes = 7;
  EXPECT_NE(look().find("7 writes/s past the routers"), std::string::npos);
  operator_.state.nodes.clear();
  EXPECT_EQ(look(), "");
  EXPECT_TRUE(book_.standing().empty());
}

TEST_F(StateBookTest, TheCoordinatorIsAwayOrTakesNoWrites) {
  operator_.state.coordinator = "etcd: connection refused";
  operator_.state.coordinator_state = control::CoordinatorState::kAway;
  EXPECT_EQ(look(), "") << "perhaps it only takes no writes";
  EXPECT_EQ(look(), "coordinator-away: the coordinator is away: etcd: connection refused\n");
  operator_.state.coordinator = "etcd: etcdserver: mvcc: database space exceeded";
  operator_.state.coordinator_state = control::CoordinatorState::kReadOnly;
  EXPECT_EQ(look(),
            "coordinator-away-over: the coordinator is back, after 2.0 s\n"
            "coordinator-read-only: the coordinator takes no writes: etcd: etcdserver: mvcc: "
            "database space exceeded\n");
  operator_.state.coordinator = "ok";
  operator_.state.coordinator_state = control::CoordinatorState::kOk;
  EXPECT_EQ(look(400'000),
            "coordinator-read-only-over: the coordinator takes writes again, after 400 s\n");
}

// No words of it decide: "namespace" is no full disk.
TEST_F(StateBookTest, ARingOfANewerCleaveIsToldOnceAndAsNothingElse) {
  operator_.state.coordinator = "the namespace is of a newer cleave, upgrade this one";
  operator_.state.coordinator_state = control::CoordinatorState::kRingUnusable;
  EXPECT_EQ(look(), "ring-unusable: the namespace is of a newer cleave, upgrade this one\n");
  EXPECT_EQ(look(), "");
}

TEST_F(StateBookTest, LeaderModeAndFreezeAreTold) {
  change([](ring::Document& document) {
    document.routers.push_back({.session = SessionId{"r2"}, .peer = "10.0.0.2:7380"});
    document.leader = {.session = SessionId{"r2"}, .term = Term{2}};
    document.mode = ring::Mode::kObserve;
    document.frozen = true;
  });
  EXPECT_EQ(look(),
            "leader: router r2 at 10.0.0.2:7380 leads, term 2\n"
            "mode: mode is observe, it was auto\n"
            "frozen: the pool is frozen: no move begins\n");
  change([](ring::Document& document) {
    document.routers.clear();
    document.leader.session = SessionId{};
    document.frozen = false;
  });
  EXPECT_EQ(look(),
            "leader: nobody leads: router r2 is gone\n"
            "frozen: the pool is frozen no more\n");
}

// What move 17 left at a, which it took to b.
control::LeftoverStatus left(ring::LeftoverState state, const std::string& why) {
  control::LeftoverStatus status{.entry = {.move = MoveId{17},
                                           .node = NodeId{1},
                                           .ranges = {{Token{1}, Token{9}}},
                                           .since = {}},
                                 .step = ""};
  status.entry.holder = NodeId{2};
  status.entry.server = "id-a";
  status.entry.state = state;
  status.entry.why = why;
  return status;
}

TEST_F(StateBookTest, WhatIsKeptIsToldWithTheWaysOn) {
  auto& leftovers = operator_.state.leftovers;
  leftovers = {left(ring::LeftoverState::kKept, "the server lost its data")};
  EXPECT_EQ(look(),
            "leftover-kept a: node a keeps its copy of move 17, which went to b, until you decide: "
            "the server lost its data; nothing of it was deleted, and nothing will be, and no move "
            "of these ranges goes to a. Where b lost keys: `cleave leftovers --take-back 17` (a "
            "owns the range again; what clients wrote to b since the commit is given up; where it "
            "came back empty `cleave adopt` comes first). Where b has them all: `cleave leftovers "
            "--clean 17`\n");
  EXPECT_EQ(look(), "");
  facts().note.server = "id-a";
  const auto text = [&] {
    return book_.standing().at({Trouble::kLeftoverKept, "a", MoveId{17}}).text;
  };
  leftovers[0].entry.state = ring::LeftoverState::kKeptBegun;
  look();
  EXPECT_TRUE(text().contains("some keys of it were deleted")) << text();
  facts().note.server = "id-x";  // another server at a's address: nothing can be taken back
  look();
  EXPECT_TRUE(text().contains("server of id id-a, then `cleave leftovers --clean 17`")) << text();
  EXPECT_TRUE(text().contains("`cleave leftovers --forget 17`")) << text();
  EXPECT_FALSE(text().contains("--take-back")) << text();
  leftovers.clear();
  EXPECT_TRUE(look().contains(
      "leftover-kept-over a: node a: what move 17 left there is kept no more, after 4.0 s\n"));
}

// Whoever had everything is not known.
TEST_F(StateBookTest, WhatARestoredRingKeepsCannotBeTakenBack) {
  auto& leftovers = operator_.state.leftovers;
  leftovers = {left(ring::LeftoverState::kKept, "the ring was restored")};
  leftovers[0].entry.holder = NodeId{};
  const std::string told = look();
  EXPECT_TRUE(told.contains("`cleave leftovers --clean 17` deletes what its owner has too"))
      << told;
  EXPECT_TRUE(told.contains("`cleave leftovers --forget 17`")) << told;
  EXPECT_FALSE(told.contains("--take-back")) << told;
}

TEST_F(StateBookTest, ACleaningThatIsStuckIsToldAfterAWhile) {
  auto& leftovers = operator_.state.leftovers;
  operator_.state.leader = true;
  leftovers = {left(ring::LeftoverState::kOpen, "")};
  leftovers[0].stuck = "remove: UNLINK was refused: NOPERM";
  leftovers[0].stuck_for = milliseconds{9'999};
  EXPECT_EQ(look(), "");
  leftovers[0].stuck_for = milliseconds{10'000};
  EXPECT_EQ(look(),
            "leftover-waits a: node a: what move 17 left there cannot be cleaned: remove: UNLINK "
            "was refused: NOPERM. It is tried again and again; no move of these ranges goes to a "
            "meanwhile\n");
  leftovers[0].stuck.clear();
  EXPECT_EQ(look(3'000),
            "leftover-waits-over a: node a: what move 17 left there is being cleaned, or is gone, "
            "after 3.0 s\n");
}

// Each of them needs a person.
TEST_F(StateBookTest, TwoKeptOnesOfOneNodeAreTwoTroubles) {
  auto& leftovers = operator_.state.leftovers;
  leftovers = {left(ring::LeftoverState::kKept, "lost")};
  look();
  leftovers.push_back(leftovers[0]);
  leftovers[1].entry.move = MoveId{18};
  EXPECT_TRUE(look().starts_with("leftover-kept a: node a keeps its copy of move 18"));
  EXPECT_EQ(book_.standing().size(), 2U);
}

TEST_F(StateBookTest, AShedClientIsTold) {
  stats_.clients_shed = 1;
  stats_.last_shed = "10.0.0.9:4242 (app): it did not read its replies";
  EXPECT_EQ(look(),
            "client-shed: a client was closed: 10.0.0.9:4242 (app): it did not read its replies\n");
  stats_.clients_shed = 4;
  EXPECT_EQ(look(),
            "client-shed: 3 clients were closed, the last: 10.0.0.9:4242 (app): it did not read "
            "its replies\n");
  EXPECT_EQ(look(), "");
}

}  // namespace
}  // namespace cleave::admin
