#include "sim/world/balance_checker.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "sim/world/document_testing.h"

namespace cleave::sim {
namespace {

// A thousand tokens of it, planned by the balancer.
ring::Document moving(const ring::Document& document) {
  ring::MoveRequest move = some_move(document);
  const Token first = move.ranges.front().first;
  move.ranges = {{first, Token{first.value() + 1'000}}};
  move.reason = "hot: of the balancer";
  return *ring::begin_move(document, move);
}

std::vector<std::unique_ptr<ModelServer>> made_servers(Scheduler& scheduler, Network& network) {
  std::vector<std::unique_ptr<ModelServer>> servers;
  for (const char* host : {"10.0.0.1", "10.0.0.2"}) {
    ModelServer::Options options;
    options.address = {host, 6379};
    servers.push_back(std::make_unique<ModelServer>(scheduler, network, std::move(options)));
  }
  return servers;
}

// A pool of two in calm, whose leader has been asked each second.
struct Pool {
  explicit Pool(const balance::Constants& constants = {})
      : scheduler(1),
        network(scheduler, {}),
        servers(made_servers(scheduler, network)),
        strangers(scheduler, network, servers),
        checker(2, constants, strangers),
        view(*ring::RingView::build(two_nodes(ring::Mode::kAuto))) {}

  // So many seconds, in each of which the servers work so long.
  void pass(int time, milliseconds left, milliseconds right) {
    for (int i = 0; i < time; ++i) {
      now += seconds{1};
      checker.ran(0, "k", left, now);
      checker.ran(1, "l", right, now);
      control::Status status;
      status.view = view;
      status.session = SessionId{"router"};
      status.plan = std::make_shared<const balance::Plan>(plan);
      checker.look(status, now);
    }
  }
  void say(balance::Why why, std::optional<Token> token = {}) {
    plan.verdicts = {{.why = why, .node = view->document().nodes[0].id, .token = token}};
  }
  bool complains(std::string_view of) const {
    return !checker.violations().empty() &&
           checker.violations().front().find(of) != std::string::npos;
  }

  Scheduler scheduler;
  Network network;
  std::vector<std::unique_ptr<ModelServer>> servers;
  Strangers strangers;
  BalanceChecker checker;
  ring::RingSnapshot view;
  balance::Plan plan;
  Instant now = seconds{1};
};

TEST(BalanceChecker, ASettledPoolMakesNoMove) {
  struct Case {
    int uneven;  // so many seconds, and then
    int even;
    bool settled;
  };
  // A mean of 40 s is level soon after the load is; what was begun has then 10 s to end.
  for (const Case& each :
       {Case{0, 100, true}, Case{100, 0, false}, Case{50, 35, false}, Case{50, 60, true}}) {
    Pool pool;
    pool.checker.calm(pool.now);
    pool.pass(each.uneven, milliseconds{200}, milliseconds{260});
    pool.pass(each.even, milliseconds{200}, milliseconds{201});
    const ring::RingSnapshot after = *ring::RingView::build(moving(two_nodes(ring::Mode::kAuto)));
    pool.checker.changed(*pool.view, *after, pool.now);
    EXPECT_EQ(pool.complains("settled"), each.settled) << each.uneven << " " << each.even;
  }
}

TEST(BalanceChecker, AHotServerIsHelpedOrExplained) {
  for (const bool explained : {true, false}) {
    Pool pool;
    pool.checker.calm(pool.now);
    if (explained) pool.say(balance::Why::kTooSmall);
    pool.pass(100, milliseconds{500}, milliseconds{50});
    EXPECT_EQ(pool.complains("for too long"), !explained);
  }
}

TEST(BalanceChecker, TheBoundOfCutsIsNotPassed) {
  for (const std::uint32_t most : {0U, 64U}) {
    balance::Constants constants;
    constants.cuts_per_node = most;
    Pool pool(constants);
    const ring::Document copying = moving(two_nodes(ring::Mode::kAuto));
    const MoveId id = copying.moves.front().id;
    const ring::Document entered = *ring::enter_copies(copying, id, copying.epoch, UnixMillis{1});
    const ring::Document fenced = *ring::fence_move(entered, id, copying.epoch);
    const ring::Holder holder{.incarnation = {.run_id = "r", .replication_id = "p"}};
    const ring::Document done = *ring::commit_move(fenced, id, fenced.epoch, holder, UnixMillis{1});
    pool.checker.changed(**ring::RingView::build(fenced), **ring::RingView::build(done), pool.now);
    EXPECT_EQ(pool.complains("cuts"), most == 0);
  }
}

TEST(BalanceChecker, ReasonsAreTrue) {
  using balance::Why;
  Pool quiet;
  const Token hot = quiet.view->token_of("k");
  const Token cold = quiet.view->token_of("nobody's");
  struct Case {
    Why why;
    std::optional<Token> token;
    bool true_here;
  };
  const Case cases[] = {
      {Why::kUsual, {}, false},        {Why::kFrozen, {}, false},
      {Why::kNoHeat, {}, false},       {Why::kInFlight, {}, false},
      {Why::kDwell, {}, false},        {Why::kVeto, {}, false},
      {Why::kUnsplittable, {}, false}, {Why::kUnsplittable, cold, false},
      {Why::kUnsplittable, hot, true}, {Why::kTooSmall, {}, true},
      {Why::kCuts, {}, false},
  };
  for (const Case& each : cases) {
    Pool pool;
    pool.checker.calm(pool.now);
    pool.say(each.why, each.token);
    pool.pass(60, milliseconds{300}, milliseconds{100});
    EXPECT_EQ(!pool.complains("is not so"), each.true_here) << to_string(each.why);
  }
}

// Once is not enough: what is noticed must not be forgotten while they go on.
TEST(BalanceChecker, StrangersAreNoticedForAsLongAsTheyWrite) {
  Pool pool;
  pool.checker.calm(pool.now);
  pool.scheduler.run_until(seconds{1});
  pool.strangers.write(1, seconds{300});
  control::NodeFacts facts;
  facts.node = pool.view->document().nodes[1].id;
  control::Status status;
  status.view = pool.view;
  status.session = SessionId{"router"};
  status.plan = std::make_shared<const balance::Plan>();
  const auto pass = [&](int time, bool noticed) {
    facts.foreign_writes = noticed;
    status.nodes = {facts};
    for (int i = 0; i < time; ++i) {
      pool.scheduler.run_until(pool.scheduler.now() + seconds{1});
      pool.checker.look(status, pool.scheduler.now());
    }
  };
  pass(40, false);
  pass(60, true);
  EXPECT_FALSE(pool.complains("nobody notices"));
  pass(1, false);
  EXPECT_TRUE(pool.complains("nobody notices"));
}

TEST(BalanceChecker, NobodyIsAccusedWithoutReason) {
  Pool pool;
  control::Status status;
  status.view = pool.view;
  status.session = SessionId{"router"};
  control::NodeFacts facts;
  facts.node = pool.view->document().nodes[1].id;
  facts.foreign_writes = true;
  status.nodes = {facts};
  pool.checker.look(status, seconds{5});
  EXPECT_TRUE(pool.complains("which nobody does"));
}

}  // namespace
}  // namespace cleave::sim
