#include "control/begin/first_ring.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_testing.h"
#include "control/document/membership.h"
#include "coord/memory/memory_register.h"

namespace cleave::control {
namespace {

using backend::run_until;

constexpr UnixMillis kNow{1'700'000'600'000};
const RingPlaces kPlaces{.coordinator = "the file /d/cleave.db", .saved = "/d/cleave.db.rings"};

FoundServer empty_server(const std::string& node) {
  return {.node = node, .address = "10.0.0.1:6379", .error = ""};
}

FoundServer marked_server(const std::string& node) {
  FoundServer server = empty_server(node);
  server.mark = "5f0c";
  server.keys = 1'000;
  server.note = {.pool = "main",
                 .ring = "5f0c",
                 .node = node,
                 .server = "77ab",
                 .epoch = Epoch{42},
                 .adopted = UnixMillis{1'700'000'000'000},
                 .written = UnixMillis{1'700'000'000'000}};
  return server;
}

FoundServer silent_server(const std::string& node) {
  FoundServer server = empty_server(node);
  server.error = "connection refused";
  return server;
}

// ---- the rule -----------------------------------------------------------------------------------

TEST(MayBegin, WhereEveryServerAnswersAndNoneBelongsToARing) {
  FoundServer with_keys = empty_server("b");
  with_keys.keys = 1'000;  // of another proxy, that cleave is to take the place of
  EXPECT_TRUE(may_begin("main", {empty_server("a"), with_keys}, kPlaces, kNow));
}

TEST(MayBegin, NotWhereAServerBelongsToARing) {
  const auto held =
      may_begin("main", {empty_server("a"), marked_server("b"), silent_server("c")}, kPlaces, kNow);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Code::kConflict);
  for (const char* word :
       {"the file /d/cleave.db", "node 'b' of pool 'main'", "1000 keys", "epoch 42 10 minutes ago",
        "cleave ring restore", "/d/cleave.db.rings", "cleave adopt --new-ring"})
    EXPECT_NE(held.error().message.find(word), std::string::npos) << word << held.error().message;
}

TEST(MayBegin, NotWhereAVersionWithoutNotesHasMarkedAServer) {
  FoundServer old = marked_server("b");
  old.note = {};
  const auto held = may_begin("main", {old}, kPlaces, kNow);
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("the marker '5f0c'"), std::string::npos);
}

TEST(MayBegin, NotUnderAnotherNameOfThePool) {
  const auto held = may_begin("shop", {marked_server("b")}, kPlaces, kNow);
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("the pool by its name, 'main'"), std::string::npos);
}

TEST(MayBegin, WaitsForServersThatCannotBeAsked) {
  const auto held = may_begin("main", {empty_server("a"), silent_server("c")}, kPlaces, kNow);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Code::kUnavailable);
  EXPECT_NE(held.error().message.find("c (10.0.0.1:6379): connection refused"), std::string::npos);
}

TEST(MayBegin, NamesAFewServersAndCountsTheRest) {
  std::vector<FoundServer> many;
  for (int i = 0; i < 40; ++i) many.push_back(marked_server("n" + std::to_string(i)));
  const std::string told = may_begin("main", many, kPlaces, kNow).error().message;
  EXPECT_NE(told.find("and 36 more"), std::string::npos);
  EXPECT_EQ(told.find("n12"), std::string::npos);
}

TEST(RoutersAtWork, AreSeenByTheirConnectionsAndLooksAreNone) {
  const std::string clients =
      "id=3 addr=127.0.0.1:40 laddr=127.0.0.1:1 name=cleave:aa.t3 age=1 cmd=get\n"
      "id=4 addr=127.0.0.1:41 laddr=127.0.0.1:1 name=cleave:look.bb age=1 cmd=get\n"
      "id=5 addr=127.0.0.1:42 laddr=127.0.0.1:1 name= age=1 cmd=get\n"
      "id=6 addr=127.0.0.1:43 laddr=127.0.0.1:1 name=app age=1 cmd=get\n";
  EXPECT_EQ(routers_at_work(clients), std::vector<std::string>{"cleave:aa.t3 from 127.0.0.1:40"});
  FoundServer busy = empty_server("a");
  busy.routers = routers_at_work(clients);
  EXPECT_TRUE(nobody_at_work({empty_server("b")}));
  EXPECT_EQ(nobody_at_work({empty_server("b"), busy}).error().code, Code::kConflict);
}

// ---- a session that meets no document -----------------------------------------------------------

// One router's way into a scripted register; what the servers say is scripted too.
class Joining : public testing::Test {
 protected:
  Joining() { membership_.emplace(*loop_, writer_, options()); }

  Membership::Options options() {
    return {.session = SessionId{"r1"},
            .creation = {.pool = "main", .mark = "m", .nodes = {node()}, .mode = {}, .now = {}},
            .may_create =
                [this](auto may) {
                  ++looks_;
                  loop_->post([this, may] { may(found_); });
                },
            .publish = [this](const ring::RingSnapshot& view) { published_ = view; },
            .removed = [this](const Error& why) { removed_ = why.message; },
            .log = [this](const std::string& line) { logged_.push_back(line); }};
  }
  static ring::Node node() {
    ring::Node node;
    node.name = "a";
    node.members = {{"127.0.0.1:7001", ""}};
    return node;
  }
  void join() {
    membership_->join([this] { joined_ = true; });
  }
  void pass(milliseconds time) {
    bool over = false;
    loop_->after(time, [&] { over = true; });
    run_until(*loop_, [&] { return over; });
  }
  Epoch stored() const { return store_->read().epoch; }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  std::shared_ptr<coord::MemoryStore> store_ = std::make_shared<coord::MemoryStore>();
  coord::MemoryRegister access_{*loop_, store_};
  ring::RingSnapshot published_;
  std::string removed_;
  std::vector<std::string> logged_;
  Result<void> found_;
  int looks_ = 0;
  bool joined_ = false;
  DocumentWriter writer_{*loop_,
                         access_,
                         [this](const SharedDocument& seen) {
                           if (membership_) membership_->follow(seen);
                         },
                         {}};
  std::optional<Membership> membership_;
};

TEST_F(Joining, MakesTheFirstDocumentWhereItMay) {
  join();
  run_until(*loop_, [&] { return joined_; });
  EXPECT_EQ(stored(), Epoch{2}) << "created, then joined";
  EXPECT_EQ(membership_->held(), "");
  EXPECT_EQ(looks_, 1);
}

TEST_F(Joining, NeverInSilenceWhereTheServersBelongToARing) {
  found_ = fail(Code::kConflict, "they belong to another ring");
  join();
  run_until(*loop_, [&] { return !membership_->held().empty(); });
  EXPECT_EQ(membership_->held(), "they belong to another ring");
  pass(milliseconds{1'200});
  EXPECT_GE(looks_, 3) << "it looks again, for somebody may mend it";
  EXPECT_EQ(logged_, std::vector<std::string>{"they belong to another ring"}) << "told once";
  EXPECT_EQ(stored(), Epoch{}) << "nothing was written";
  EXPECT_FALSE(joined_);
  EXPECT_EQ(published_, nullptr);
  EXPECT_EQ(removed_, "");
}

TEST_F(Joining, GoesOnWhenTheServerThatWasWaitedForAnswers) {
  found_ = fail(Code::kUnavailable, "waiting for b");
  join();
  run_until(*loop_, [&] { return !membership_->held().empty(); });
  found_ = {};
  run_until(*loop_, [&] { return joined_; });
  EXPECT_EQ(membership_->held(), "");
}

TEST_F(Joining, FindsTheDocumentThatSomebodyElseMadeMeanwhile) {
  found_ = fail(Code::kConflict, "they belong to another ring");
  join();
  run_until(*loop_, [&] { return !membership_->held().empty(); });
  const ring::Document made =
      *ring::create({.pool = "main", .mark = "other", .nodes = {node()}, .mode = {}, .now = {}});
  ASSERT_TRUE(store_->compare_and_set(Epoch{}, ring::to_text(made)));
  run_until(*loop_, [&] { return joined_; });
  EXPECT_EQ(published_->document().mark, "other");
}

// Another router marks the servers of the ring that it has just made, between our read and our
// look: no reason to say anything.
TEST_F(Joining, ReadsOnceMoreBeforeItSaysThatTheRingIsLost) {
  found_ = fail(Code::kConflict, "they belong to another ring");
  const ring::Document made =
      *ring::create({.pool = "main", .mark = "other", .nodes = {node()}, .mode = {}, .now = {}});
  membership_.emplace(*loop_, writer_, [&] {
    Membership::Options changed = options();
    changed.may_create = [&](auto may) {
      ASSERT_TRUE(store_->compare_and_set(Epoch{}, ring::to_text(made)));
      loop_->post([this, may] { may(found_); });
    };
    return changed;
  }());
  join();
  run_until(*loop_, [&] { return joined_; });
  EXPECT_TRUE(logged_.empty());
}

TEST_F(Joining, AnExistingDocumentIsJoinedWithoutAskingAnyServer) {
  const ring::Document made =
      *ring::create({.pool = "main", .mark = "other", .nodes = {node()}, .mode = {}, .now = {}});
  ASSERT_TRUE(store_->compare_and_set(Epoch{}, ring::to_text(made)));
  found_ = fail(Code::kConflict, "they belong to another ring");
  join();
  run_until(*loop_, [&] { return joined_; });
  EXPECT_EQ(looks_, 0);
}

// ---- real servers -------------------------------------------------------------------------------

TEST(FirstRingAtServers, SeesTheirMarksAndWhoIsAtWork) {
  const auto loop = net::make_loop();
  const backend::RedisServer marked;
  const backend::RedisServer fresh;
  backend::RawClient client = marked.client();
  client.ask({"SET", "cleave:{owner}", "5f0c"});
  client.ask({"CLIENT", "SETNAME", "cleave:old-router"});
  std::vector<ring::Node> nodes(3);
  const std::string dead = "127.0.0.1:" + std::to_string(net::free_port());
  const std::string addresses[] = {net::to_string(marked.address()),
                                   net::to_string(fresh.address()), dead};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = std::string(1, static_cast<char>('a' + i));
    nodes[i].members = {{addresses[i], ""}};
  }
  FirstRing first({.look = {.loop = *loop,
                            .nodes = nodes,
                            .credentials = {},
                            .limits = {},
                            .session = SessionId{"r1"}},
                   .pool = "main",
                   .places = kPlaces});
  std::optional<Result<void>> may;
  first.ask([&](Result<void> answer) { may = std::move(answer); });
  run_until(*loop, [&] { return may.has_value(); });
  EXPECT_EQ(may->error().code, Code::kConflict);
  const auto& found = first.look().found();
  EXPECT_EQ(found[0].mark, "5f0c");
  EXPECT_EQ(found[0].routers.size(), 1) << "and not our own look";
  EXPECT_EQ(found[1].mark + found[1].error, "");
  EXPECT_NE(found[2].error, "");
}

}  // namespace
}  // namespace cleave::control
