// Heat, facts and orders go in; what is wanted of the board and the document, and what is told,
// comes out. What is planned is for the tests of balance/.
#include "control/plan/balancer.h"

#include <gtest/gtest.h>

#include "control/world_testing.h"

namespace cleave::control {
namespace {

constexpr std::uint64_t kMs = 1'000'000;  // of server time, in nanoseconds

// r1 leads in term 1; node a is hot in a hundred tokens of its own, the others are not.
class BalancerTest : public testing::Test, protected ScriptedWorld {
 protected:
  BalancerTest() {
    ring::Document document = first_document();
    document.mode = ring::Mode::kAuto;
    write(document);
    for (const NodeId node : {kA, kB, kC}) put_keys(node, 300, node);
    r1.heat = [this] { return std::vector{report()}; };
  }

  // What r1 counted in a second, by the present ring.
  heat::Report report() {
    const ring::RingSnapshot view = *ring::RingView::build(document());
    heat::Report told{
        .recorder = 1, .sequence = ++sequence_, .epoch = view->epoch(), .covers = seconds{1}};
    for (const ring::Entry& entry : view->entries()) {
      // By who owned it at first: load goes with its tokens.
      const bool hot = first_->owner(entry.range.first) == kA;
      const std::uint64_t load = (hot ? load_of_a_ : 40 * kMs) / (view->entries().size() / 3);
      told.sums.push_back({.range = entry.range,
                           .node = entry.node,
                           .requests = 100,
                           .writes = 10,
                           .weight_ns = load});
      const std::uint64_t middle = entry.range.first.value() / 2 + entry.range.last.value() / 2;
      for (int i = 0; i < 10; ++i)
        told.samples.push_back({Token{middle}, static_cast<std::uint32_t>(load / 10)});
    }
    for (std::uint16_t bucket = 0; scripts_ && bucket < heat::kScriptBuckets; ++bucket)
      told.scripts.push_back({.bucket = bucket, .age_s = 1});
    return told;
  }

  Balancer& balancer() {
    if (balancer_ != nullptr) return *balancer_;
    first_ = *ring::RingView::build(document());
    board_ = std::make_unique<MoveBoard>(
        MoveBoard::Options{.loop = loop,
                           .writer = writer_,
                           .directory = directory,
                           .links = links_,
                           .view = first_,
                           .leader = {.session = kOurs, .term = Term{1}},
                           .limits = {},
                           .mutations = {},
                           .copies = copies_,
                           .ended =
                               [this](const MoveRecord& record) {
                                 ended_.push_back(record);
                                 balancer_->move_ended(record);
                               },
                           .decided = [](const DecisionRecord&) {}});
    balancer_ = std::make_unique<Balancer>(Balancer::Options{
        .loop = loop,
        .writer = writer_,
        .directory = directory,
        .links = links_,
        .board = *board_,
        .plan = {.constants = {}, .windows = windows_, .enabled = enabled_},
        .seed = 5,
        .new_strays = [this] { return scripts_; },
        .decided = [this](DecisionRecord decision) { decided_.push_back(std::move(decision)); }});
    writer_.read([](const auto&) {});
    return *balancer_;
  }

  std::size_t told(const std::string& kind, const std::string& words = "") const {
    return static_cast<std::size_t>(
        std::ranges::count_if(decided_, [&](const DecisionRecord& each) {
          return each.kind == kind && each.reason.find(words) != std::string::npos;
        }));
  }
  void set_mode(ring::Mode mode) {
    change([mode](const ring::Document& now) { return ring::set_mode(now, mode); });
  }
  // Until there is a plan with a move.
  void wait_for_plan() {
    balancer();
    ASSERT_TRUE(loop.run_until(
        [this] { return balancer().plan() != nullptr && !balancer().plan()->moves.empty(); }));
  }
  template <class T>
  static void expect_error(const Result<T>& result, Code code, const std::string& words) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code);
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
  }

  std::uint64_t sequence_ = 0;
  std::uint64_t load_of_a_ = 600 * kMs;
  bool enabled_ = true;
  bool scripts_ = false;  // strays appear, and scripts named keys everywhere
  std::vector<balance::DailyWindow> windows_;
  ring::RingSnapshot first_;
  std::shared_ptr<CopyCounts> copies_ = std::make_shared<CopyCounts>();
  std::vector<MoveRecord> ended_;
  std::vector<DecisionRecord> decided_;
  std::unique_ptr<MoveBoard> board_;
  std::unique_ptr<Balancer> balancer_;
  DocumentWriter writer_{loop,
                         access,
                         [this](const SharedDocument& seen) {
                           links_.follow(seen);
                           if (board_ != nullptr) board_->see(seen);
                           if (balancer_ != nullptr) balancer_->see(*ring::RingView::build(*seen));
                         },
                         {}};
  NodeLinks links_{{.loop = loop,
                    .writer = writer_,
                    .leader = {.session = kOurs, .term = Term{1}},
                    .servers = {},
                    .limits = {},
                    .mutations = {},
                    .seed = 7,
                    .log = [](const std::string&) {},
                    .copies = copies_}};
};

// ---- by mode ------------------------------------------------------------------------------------

TEST_F(BalancerTest, AHotNodeGivesAwayUntilItIsNot) {
  balancer();
  ASSERT_TRUE(loop.run_until([this] { return !ended_.empty(); }));
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted) << ended_[0].why;
  EXPECT_EQ(ended_[0].move.source, kA);
  ASSERT_GE(told("move"), 1U);
  const auto move = std::ranges::find(decided_, "move", &DecisionRecord::kind);
  EXPECT_EQ(move->move->source, "a");
  EXPECT_GT(move->move->source_before, move->move->source_after);
  EXPECT_NE(move->predicted, "");
  loop.run_for(seconds{120});
  const auto& nodes = balancer().picture()->nodes;
  const auto hot = std::ranges::find(nodes, kA, &heat::NodeLoad::node);
  EXPECT_LT(hot->load.mean, 400 * kMs);
}

TEST_F(BalancerTest, AnEvenPoolIsLeftAlone) {
  load_of_a_ = 45 * kMs;
  balancer();
  loop.run_for(seconds{60});
  ASSERT_NE(balancer().plan(), nullptr);
  EXPECT_TRUE(balancer().plan()->moves.empty());
  EXPECT_EQ(balancer().plan_id(), "");
  EXPECT_TRUE(ended_.empty());
  EXPECT_EQ(document().epoch, Epoch{1});
}

TEST_F(BalancerTest, ObserveTellsAndBeginsNothing) {
  set_mode(ring::Mode::kObserve);
  wait_for_plan();
  EXPECT_NE(balancer().plan_id(), "");
  loop.run_for(seconds{30});
  EXPECT_TRUE(document().moves.empty());
  EXPECT_EQ(told("move"), 0U);
  expect_error(balancer().approve(balancer().plan_id()), Code::kConflict, "the mode is observe");
}

TEST_F(BalancerTest, ApproveKeepsThePlanUntilAPersonSaysYes) {
  set_mode(ring::Mode::kApprove);
  wait_for_plan();
  const std::string id = balancer().plan_id();
  loop.run_for(seconds{20});
  EXPECT_EQ(balancer().plan_id(), id) << "what a person has read stays as it was";
  EXPECT_TRUE(document().moves.empty());
  expect_error(balancer().approve("another"), Code::kConflict,
               "the plan is another one now, " + id);
  const Result<std::uint64_t> wanted = balancer().approve(id);
  ASSERT_TRUE(wanted) << wanted.error().message;
  EXPECT_GE(*wanted, 1U);
  EXPECT_EQ(told("move"), *wanted);
  ASSERT_TRUE(loop.run_until([this] { return !ended_.empty(); }));
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted) << ended_[0].why;
}

TEST_F(BalancerTest, AFrozenPoolIsPlannedForAndLeftAlone) {
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  balancer();
  loop.run_for(seconds{60});
  EXPECT_EQ(told("move"), 0U);
  expect_error(balancer().approve("any"), Code::kConflict, "the pool is frozen");
}

TEST_F(BalancerTest, WithoutAPlanThereIsNothingToApprove) {
  balancer();
  loop.run_for(milliseconds{10});
  expect_error(balancer().approve("any"), Code::kConflict, "there is nothing to approve");
}

TEST_F(BalancerTest, APlanForAnotherRingIsNotApproved) {
  set_mode(ring::Mode::kApprove);
  wait_for_plan();
  const std::string id = balancer().plan_id();
  change([](const ring::Document& now) { return ring::join(now, {.session = SessionId{"r3"}}); });
  loop.run_for(milliseconds{1});
  expect_error(balancer().approve(id), Code::kConflict, "the ring has changed since");
  EXPECT_EQ(told("move"), 0U);
}

TEST_F(BalancerTest, WhereItIsSwitchedOffHeatIsGatheredAllTheSame) {
  enabled_ = false;
  balancer();
  loop.run_for(seconds{30});
  EXPECT_NE(balancer().picture(), nullptr);
  EXPECT_EQ(balancer().plan(), nullptr);
  EXPECT_TRUE(ended_.empty());
}

// A day's only window opens at 20:00, and it is 08:00.
TEST_F(BalancerTest, OutsideOfItsWindowsNothingThatCanWaitBegins) {
  windows_ = {{.from = 20 * 60, .until = 21 * 60}};
  wait_for_plan();
  loop.run_for(seconds{30});
  EXPECT_EQ(told("move"), 0U);
  EXPECT_TRUE(document().moves.empty());
}

// ---- what is not known --------------------------------------------------------------------------

TEST_F(BalancerTest, ARouterThatDoesNotAnswerIsNotHeardOf) {
  r2.error = Error{Code::kUnavailable, "connection refused"};
  balancer();
  loop.run_for(seconds{3});
  ASSERT_NE(balancer().heard(kOurs), nullptr);
  EXPECT_EQ(balancer().heard(kOurs)->view, document().epoch);
  EXPECT_EQ(balancer().heard(kOther), nullptr);
  r2.error.reset();
  loop.run_for(seconds{2});
  ASSERT_NE(balancer().heard(kOther), nullptr);
  change([](const ring::Document& now) { return ring::remove_router(now, kOther); });
  loop.run_for(milliseconds{10});
  EXPECT_EQ(balancer().heard(kOther), nullptr) << "gone";
}

TEST_F(BalancerTest, ARouterThatNobodyKnowsIsPassedOver) {
  directory.known.erase(kOther);
  balancer();
  loop.run_for(seconds{3});
  EXPECT_NE(balancer().heard(kOurs), nullptr);
  EXPECT_EQ(balancer().heard(kOther), nullptr);
}

TEST_F(BalancerTest, WithoutHeatNothingIsMovedAndThatIsToldOnce) {
  r1.silent = r2.silent = true;
  balancer();
  loop.run_for(seconds{60});
  EXPECT_TRUE(ended_.empty());
  ASSERT_NE(balancer().plan(), nullptr);
  EXPECT_TRUE(balancer().plan()->moves.empty());
  EXPECT_LE(told("nothing", "heat"), 2U) << "when it begins to be so, not at each tick";
}

TEST_F(BalancerTest, NothingIsRehearsedBeforeHeatIsKnown) {
  balancer();
  expect_error(balancer().rehearse({}), Code::kUnavailable, "no router has told its heat yet");
  loop.run_for(seconds{10});
  change([](const ring::Document& now) { return ring::join(now, {.session = SessionId{"r3"}}); });
  loop.run_for(milliseconds{1});
  expect_error(balancer().rehearse({}), Code::kUnavailable, "the ring has just changed");
}

TEST_F(BalancerTest, AServerThatTakesNothingIsNotPlannedFor) {
  b.role = "slave";
  c.values["cleave:{owner}"] = "another-pool";
  balancer();
  loop.run_for(seconds{90});
  EXPECT_EQ(told("move"), 0U);
  EXPECT_TRUE(ended_.empty());
}

// ---- what comes of a move -----------------------------------------------------------------------

TEST_F(BalancerTest, AServerThatRefusedIsLeftAloneForAWhile) {
  for (auto* server : {&b, &c})
    server->errors["RESTORE"] = "OOM command not allowed when used memory > 'maxmemory'.";
  balancer();
  ASSERT_TRUE(loop.run_until([this] { return ended_.size() >= 2; }));
  for (const MoveRecord& record : ended_) EXPECT_EQ(record.end, MoveEnd::kRefused);
  EXPECT_NE(ended_[0].move.destination, ended_[1].move.destination) << "the other one is tried";
  const std::size_t tried = ended_.size();
  loop.run_for(seconds{5});
  EXPECT_LE(ended_.size(), tried + 1) << "and then both rest";
  for (auto* server : {&b, &c}) server->errors.clear();
  ASSERT_TRUE(loop.run_until([this] {
    return std::ranges::any_of(
        ended_, [](const MoveRecord& each) { return each.end == MoveEnd::kCommitted; });
  }));
}

TEST_F(BalancerTest, WhereScriptsMakeUpKeysNothingIsMovedUnordered) {
  scripts_ = true;
  balancer();
  loop.run_for(seconds{60});
  EXPECT_EQ(told("move"), 0U);
  EXPECT_EQ(told("nothing", "scripts"), 1U);
  EXPECT_NE(balancer().scripts_warning(owned_by(kA)), "");
  scripts_ = false;
  EXPECT_EQ(balancer().scripts_warning(owned_by(kA)), "");
  EXPECT_TRUE(loop.run_until([this] { return told("move") > 0; }));
}

TEST_F(BalancerTest, EventsThatAreOverAreForgotten) {
  const UnixMillis now = loop.wall_now();
  change([&](const ring::Document& from) {
    ring::ExpectedEvent event{
        .name = "sale",
        .lead_from = now,
        .start = now,
        .end = UnixMillis{now.value() + 5'000},
        .loads = {
            {.range = from.cuts.empty() ? ring::TokenRange{} : from.cuts[0].range, .load = 1}}};
    return ring::expect(from, {event}, now);
  });
  load_of_a_ = 45 * kMs;
  balancer();
  loop.run_for(seconds{4});
  EXPECT_EQ(document().expected.size(), 1U);
  coordinator.read_only = true;
  loop.run_for(seconds{6});
  EXPECT_LE(writer_.waiting(), 2U) << "asked for once";
  coordinator.read_only = false;
  EXPECT_TRUE(loop.run_until([this] { return document().expected.empty(); }, seconds{10}));
}

TEST_F(BalancerTest, ABalancerThatGoesInTheMiddleTellsNobody) {
  balancer();
  ASSERT_TRUE(loop.run_until([this] { return told("move") > 0; }));
  const std::size_t before = decided_.size();
  balancer_.reset();
  board_.reset();
  loop.run_for(seconds{10});
  EXPECT_EQ(decided_.size(), before);
}

}  // namespace
}  // namespace cleave::control
