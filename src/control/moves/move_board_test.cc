// The moves of one term: who waits for whom, what ends them, and what is told of them.
#include "control/moves/move_board.h"

#include <gtest/gtest.h>

#include <set>

#include "control/world_testing.h"

namespace cleave::control {
namespace {

using backend::End;

// r1 leads in term 1; each node owns ten keys.
class MoveBoardTest : public testing::Test, protected ScriptedWorld {
 protected:
  MoveBoardTest() {
    write(first_document());
    for (const NodeId node : {kA, kB, kC}) keys_[node] = put_keys(node, 10, node);
  }

  MoveBoard& board() {
    if (board_ == nullptr) {
      board_ = std::make_unique<MoveBoard>(MoveBoard::Options{
          .loop = loop,
          .writer = writer_,
          .directory = directory,
          .links = links_,
          .view = *ring::RingView::build(document()),
          .leader = {.session = kOurs, .term = Term{1}},
          .limits = limits_,
          .mutations = {},
          .copies = copies_,
          .ended =
              [this](const MoveRecord& record) {
                ended_.push_back(record);
                if (on_ended_) on_ended_(record);
              },
          .decided = [this](DecisionRecord decision) { decided_.push_back(std::move(decision)); }});
      writer_.read([](const auto&) {});
      EXPECT_TRUE(loop.run_until([this] {
        return writer_.newest() != nullptr && connected(kA) && connected(kB) && connected(kC);
      }));
    }
    return *board_;
  }
  bool connected(NodeId node) {
    const auto link = links_.store(node);
    return link != nullptr && link->usable();
  }

  // A half of what the node owns.
  ring::RangeSet half_of(NodeId node, bool second = false) {
    const ring::RangeSet all = owned_by(node);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return second ? ring::RangeSet(middle, all.end()) : ring::RangeSet(all.begin(), middle);
  }
  ring::MoveRequest request(NodeId source, NodeId destination, bool second = false) {
    return {.ranges = half_of(source, second),
            .source = source,
            .destination = destination,
            .reason = "test",
            .now = {}};
  }
  // How the answers came, by name.
  std::uint64_t want(const std::string& name, ring::MoveRequest wanted) {
    return board().want(std::move(wanted), [this, name](Result<MoveId> begun) {
      EXPECT_FALSE(begun_.contains(name)) << "told once";
      begun_.emplace(name, std::move(begun));
    });
  }
  bool has_begun(const std::string& name) const {
    const auto found = begun_.find(name);
    return found != begun_.end() && found->second.has_value();
  }
  const Error& refusal(const std::string& name) { return begun_.at(name).error(); }

  void wait_for_ends(std::size_t count) {
    ASSERT_TRUE(loop.run_until([&] { return ended_.size() >= count; }));
  }
  std::vector<std::string> told(const std::string& kind) const {
    std::vector<std::string> reasons;
    for (const DecisionRecord& each : decided_)
      if (each.kind == kind) reasons.push_back(each.subject + ": " + each.reason);
    return reasons;
  }

  Limits limits_;
  std::map<NodeId, std::vector<std::string>> keys_;
  std::shared_ptr<CopyCounts> copies_ = std::make_shared<CopyCounts>();
  std::map<std::string, Result<MoveId>> begun_;
  std::vector<MoveRecord> ended_;
  std::vector<DecisionRecord> decided_;
  std::function<void(const MoveRecord&)> on_ended_;
  std::unique_ptr<MoveBoard> board_;
  DocumentWriter writer_{loop,
                         access,
                         [this](const SharedDocument& seen) {
                           links_.follow(seen);
                           if (board_ != nullptr) board_->see(seen);
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

// ---- turns --------------------------------------------------------------------------------------

TEST_F(MoveBoardTest, AMoveBeginsEndsAndIsCleanedAfterwards) {
  EXPECT_TRUE(board().idle());
  want("it", request(kA, kB));
  EXPECT_FALSE(board().idle());
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted);
  EXPECT_EQ(ended_[0].move.id, *begun_.at("it"));
  EXPECT_EQ(ended_[0].move.reason, "test");
  EXPECT_GT(ended_[0].fenced, microseconds{0});
  EXPECT_LE(ended_[0].fenced, microseconds{limits_.fence_hold_max});
  EXPECT_GT(ended_[0].committed, milliseconds{0});
  EXPECT_LE(ended_[0].committed, ended_[0].took);
  ASSERT_TRUE(loop.run_until([this] { return board().idle(); }));
  EXPECT_TRUE(document().leftovers.empty());
  EXPECT_EQ(copies_->at(kA), 0U);
}

TEST_F(MoveBoardTest, ANodeSendsOneAtATimeAndTakesOne) {
  want("out", request(kA, kB));
  want("out too", request(kA, kC, true));
  want("in too", request(kC, kB));
  want("both ways", request(kB, kC));
  ASSERT_TRUE(loop.run_until([this] {
    std::set<NodeId> sources;
    std::set<NodeId> destinations;
    for (const MoveStatus& each : board().status()) {
      EXPECT_TRUE(sources.insert(each.move.source).second);
      EXPECT_TRUE(destinations.insert(each.move.destination).second);
    }
    return ended_.size() == 4;
  }));
  for (const MoveRecord& record : ended_) EXPECT_EQ(record.end, MoveEnd::kCommitted) << record.why;
  EXPECT_TRUE(has_begun("out too"));
  EXPECT_TRUE(has_begun("in too"));
  EXPECT_EQ(board().waiting(), 0U);
}

// Rules 12 and 23 a: what is cleaned comes first, and alone.
TEST_F(MoveBoardTest, AMoveWaitsUntilItsNodeIsClean) {
  put_keys(kA, 3, kB);
  change([this](const ring::Document& now) -> Result<ring::Document> {
    ring::Document with = now;
    with.leftovers.push_back({.move = MoveId{1}, .node = kB, .ranges = half_of(kA), .since = {}});
    with.epoch = Epoch{now.epoch.value() + 1};
    return with;
  });
  std::vector<std::string> order;
  b.before = [&](const std::string& command) { order.push_back(command); };
  want("it", request(kA, kB));
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted) << ended_[0].why;
  const auto cleaned =
      std::ranges::find_if(order, [](const auto& each) { return each.starts_with("UNLINK key"); });
  const auto probed =
      std::ranges::find_if(order, [](const auto& each) { return each.starts_with("RESTORE"); });
  ASSERT_NE(cleaned, order.end());
  EXPECT_LT(cleaned, probed);
}

// Rule 8.
TEST_F(MoveBoardTest, AMoveWaitsUntilEarlierCommandsAreFinished) {
  board();
  b.silent = true;
  backend::Commands commands;
  commands.add({"GET", "x"});
  links_.store(kB)->run(commands, [](const auto&) {});
  loop.run_for(seconds{3});
  ASSERT_GT(links_.store(kB)->unfinished(), 0U) << "its answer is overdue, and may come yet";
  want("it", request(kA, kB));
  loop.run_for(seconds{1});
  EXPECT_EQ(board().waiting(), 1U);
  b.silent = false;
  b.break_connections();
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted) << ended_[0].why;
}

TEST_F(MoveBoardTest, ANodeThatIsNotThereIsNoEndOfAMove) {
  want("to nowhere",
       {.ranges = half_of(kA), .source = kA, .destination = NodeId{9}, .reason = "", .now = {}});
  want("from nowhere",
       {.ranges = half_of(kA), .source = NodeId{9}, .destination = kA, .reason = "", .now = {}});
  loop.run_for(milliseconds{200});
  EXPECT_EQ(refusal("to nowhere").code, Code::kNotFound);
  EXPECT_EQ(refusal("from nowhere").code, Code::kNotFound);
  EXPECT_TRUE(ended_.empty());
  EXPECT_TRUE(board().idle());
}

TEST_F(MoveBoardTest, TooManyThatWaitAreRefused) {
  board();
  for (int i = 0; i < 4'096; ++i) board().want(request(kA, kB), nullptr);
  want("one too many", request(kA, kB));
  EXPECT_EQ(board().forget_waiting("enough"), 4'096U);
  loop.run_for(milliseconds{1});
  EXPECT_EQ(refusal("one too many").code, Code::kExhausted);
  EXPECT_TRUE(board().idle());
}

// ---- orders taken back --------------------------------------------------------------------------

TEST_F(MoveBoardTest, WhatWaitsCanBeWithdrawnAndHearsWhatItWaitedFor) {
  want("first", request(kA, kB));
  const std::uint64_t ticket = want("second", request(kA, kC, true));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("first"); }));
  board().withdraw(ticket);
  EXPECT_EQ(refusal("second").code, Code::kUnavailable);
  const std::string first = std::to_string(begun_.at("first")->value());
  EXPECT_NE(refusal("second").message.find("move " + first + " is not over yet"), std::string::npos)
      << refusal("second").message;
  board().withdraw(ticket);
  wait_for_ends(1);
  loop.run_for(seconds{1});
  EXPECT_EQ(ended_.size(), 1U);
}

TEST_F(MoveBoardTest, WhatHasBegunIsNotWithdrawn) {
  const std::uint64_t ticket = want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  board().withdraw(ticket);
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted);
}

TEST_F(MoveBoardTest, AllThatHasNotBegunCanBeForgotten) {
  want("first", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("first"); }));
  want("beginning", request(kB, kC));
  want("waiting", request(kA, kC, true));
  loop.run_for(milliseconds{0});
  EXPECT_EQ(board().waiting(), 1U);
  EXPECT_EQ(board().forget_waiting("aborted by order"), 2U);
  loop.run_for(milliseconds{100});
  EXPECT_EQ(refusal("waiting").message, "aborted by order");
  EXPECT_EQ(refusal("beginning").message, "aborted by order");
  wait_for_ends(2);
  EXPECT_TRUE(has_begun("first"));
}

TEST_F(MoveBoardTest, WindingDownAbortsWhatCanBeAndTakesNothingMore) {
  want("first", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("first"); }));
  want("second", request(kA, kC, true));
  board().wind_down("the router is being stopped");
  EXPECT_EQ(refusal("second").code, Code::kUnavailable);
  want("third", request(kB, kC));
  ASSERT_TRUE(loop.run_until([this] { return board().idle(); }));
  EXPECT_EQ(refusal("third").code, Code::kExhausted);
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].end, MoveEnd::kAborted);
  EXPECT_EQ(ended_[0].why, "the router is being stopped");
  EXPECT_TRUE(document().moves.empty());
}

// ---- aborts -------------------------------------------------------------------------------------

TEST_F(MoveBoardTest, OnlyAMoveUnderWayCanBeAborted) {
  EXPECT_EQ(board().abort(MoveId{99}, "why").error().code, Code::kNotFound);
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  EXPECT_TRUE(board().abort(*begun_.at("it"), "no more"));
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].why, "no more");
  EXPECT_EQ(board().abort(*begun_.at("it"), "again").error().code, Code::kNotFound);
}

TEST_F(MoveBoardTest, PastItsCommitAMoveIsNotAborted) {
  std::optional<Result<void>> late;
  on_ended_ = [&](const MoveRecord& record) { late = board().abort(record.move.id, "too late"); };
  want("it", request(kA, kB));
  wait_for_ends(1);
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->error().code, Code::kConflict);
}

TEST_F(MoveBoardTest, APersonsAbortIsTheReasonThatIsTold) {
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  const MoveId id = *begun_.at("it");
  board().note_abort(id, "aborted by order");
  change([id](const ring::Document& now) { return ring::abort_by_order(now, {{id}}); });
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].why, "aborted by order");
}

TEST_F(MoveBoardTest, AnAbortThatCouldNotBeIsNotTheReason) {
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  const MoveId id = *begun_.at("it");
  board().note_abort(id, "aborted by order");
  board().forget_abort(id);
  change([id](const ring::Document& now) { return ring::abort_by_order(now, {{id}}); });
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].why, "aborted by another");
}

TEST_F(MoveBoardTest, AMoveThatCommittedAllTheSameKeepsNoReason) {
  on_ended_ = [](const MoveRecord& record) { EXPECT_EQ(record.why, ""); };
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  board().note_abort(*begun_.at("it"), "aborted by order");
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted);
}

// ---- moves that nobody drives -------------------------------------------------------------------

TEST_F(MoveBoardTest, AMoveWithoutADriverIsAborted) {
  board();
  change([this](const ring::Document& now) { return ring::begin_move(now, request(kA, kB)); });
  ASSERT_FALSE(document().moves.empty());
  EXPECT_EQ(board().abort(document().moves[0].id, "why").error().code, Code::kNotFound);
  EXPECT_TRUE(loop.run_until([this] { return document().moves.empty(); }, seconds{1}));
  EXPECT_TRUE(ended_.empty()) << "it was nobody's";
}

// The document shows it before its driver was told.
TEST_F(MoveBoardTest, WhileOneBeginsNothingIsTakenForNobodys) {
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] {
    const auto all = board().status();
    return !all.empty() && all[0].step == "identify";
  }));
  change([this](const ring::Document& now) { return ring::begin_move(now, request(kB, kC)); });
  a.silent = true;  // its beginning takes as long as that
  loop.run_for(seconds{1});
  EXPECT_EQ(document().moves.size(), 1U);
  a.silent = false;
  EXPECT_TRUE(loop.run_until([this] { return document().moves.empty(); }));
}

TEST_F(MoveBoardTest, AMoveInTheOldPhaseIsLeftToItsCleaning) {
  board();
  ring::Document old = document();
  old.epoch = Epoch{old.epoch.value() + 1};
  old.moves.push_back({.id = MoveId{1},
                       .ranges = half_of(kB),
                       .source = kA,
                       .destination = kB,
                       .phase = ring::Phase::kClean,
                       .phase_epoch = Epoch{1},
                       .reason = "old",
                       .started = {}});
  board().see(std::make_shared<const ring::Document>(old));
  loop.run_for(milliseconds{150});
  EXPECT_EQ(writer_.waiting(), 0U);
  EXPECT_EQ(document().epoch, Epoch{1});
}

// ---- taking back --------------------------------------------------------------------------------

class BoardTakesBack : public MoveBoardTest {
 protected:
  // A leftover of a committed move from a to b, which is kept or not.
  void leave(ring::LeftoverState state) {
    board();
    change([&](const ring::Document& now) -> Result<ring::Document> {
      ring::Document with = now;
      with.leftovers.push_back({.move = MoveId{1},
                                .node = kA,
                                .ranges = half_of(kB),
                                .since = {},
                                .holder = kB,
                                .incarnation = {"b-run", "b-repl"},
                                .state = state,
                                .why = "b lost its data"});
      with.epoch = Epoch{now.epoch.value() + 1};
      return with;
    });
    loop.run_for(milliseconds{1});
  }
  std::optional<Result<MoveId>> take_back(MoveId entry = MoveId{1}) {
    std::optional<Result<MoveId>> begun;
    board().take_back(entry, [&](Result<MoveId> said) { begun = said; });
    EXPECT_FALSE(begun.has_value()) << "not within the call";
    EXPECT_TRUE(loop.run_until([&] { return begun.has_value(); }));
    return begun;
  }
  void expect_conflict(const std::optional<Result<MoveId>>& begun, const std::string& words) {
    ASSERT_TRUE(begun.has_value() && !*begun);
    EXPECT_EQ(begun->error().code, Code::kConflict);
    EXPECT_NE(begun->error().message.find(words), std::string::npos) << begun->error().message;
  }
};

TEST_F(BoardTakesBack, WhatIsKeptIsTakenBack) {
  leave(ring::LeftoverState::kKept);
  const auto begun = take_back();
  ASSERT_TRUE(begun->has_value()) << begun->error().message;
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kCommitted) << ended_[0].why;
  EXPECT_EQ(ended_[0].keys_copied, 0U);
}

TEST_F(BoardTakesBack, WhatIsNotThereOrNotKeptIsNot) {
  leave(ring::LeftoverState::kKept);
  expect_conflict(take_back(MoveId{77}), "no leftover of that move is kept");
}

TEST_F(BoardTakesBack, WhatIsBeingCleanedIsNot) {
  board();
  b.down = true;  // its cleaning waits for that
  b.break_connections();
  leave(ring::LeftoverState::kOpen);
  expect_conflict(take_back(), "no leftover of that move is kept");
}

TEST_F(BoardTakesBack, ABusyNodeIsNotWaitedFor) {
  leave(ring::LeftoverState::kKept);
  want("it", request(kB, kC, true));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  expect_conflict(take_back(), "one of its nodes is busy");
}

TEST_F(BoardTakesBack, WindingDownTakesNothingBack) {
  leave(ring::LeftoverState::kKept);
  board().wind_down("the router is being stopped");
  expect_conflict(take_back(), "one of its nodes is busy");
}

// A kept entry stops moves to its node, and that node rests.
TEST_F(BoardTakesBack, AMoveThatAKeptEntryStoppedLetsItsNodeRest) {
  change([this](const ring::Document& now) -> Result<ring::Document> {
    ring::Document with = now;
    with.leftovers.push_back({.move = MoveId{1},
                              .node = kB,
                              .ranges = half_of(kA),
                              .since = {},
                              .holder = kA,
                              .incarnation = {"a-run", "a-repl"},
                              .state = ring::LeftoverState::kKept,
                              .why = "a lost its data"});
    with.epoch = Epoch{now.epoch.value() + 1};
    return with;
  });
  want("it", request(kA, kB));
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kRefused);
  EXPECT_NE(board().refusal(kB, End::kDestination), "");
}

// ---- who said no --------------------------------------------------------------------------------

TEST_F(MoveBoardTest, AServerThatRefusedRestsAndIsPublishedWithItsWords) {
  b.errors["RESTORE"] = "OOM command not allowed when used memory > 'maxmemory'.";
  want("it", request(kA, kB));
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kRefused);
  EXPECT_EQ(ended_[0].move.id, MoveId{});
  EXPECT_EQ(refusal("it").code, Code::kConflict);
  EXPECT_NE(board().refusal(kB, End::kDestination).find("OOM"), std::string::npos);
  EXPECT_EQ(board().refusal(kB, End::kSource), "") << "it may still give";
  EXPECT_EQ(board().refusal(kA, End::kSource), "");
  ASSERT_EQ(told("refused").size(), 1U);
  EXPECT_NE(told("refused")[0].find("node b: "), std::string::npos) << told("refused")[0];
  EXPECT_NE(told("refused")[0].find("no move is planned with it for 10 s"), std::string::npos);
  loop.run_for(seconds{11});
  EXPECT_EQ(board().refusal(kB, End::kDestination), "") << "rested";
  want("again", request(kA, kB));
  wait_for_ends(2);
  EXPECT_NE(told("refused").at(1).find("for 20 s"), std::string::npos);
}

TEST_F(MoveBoardTest, AMoveThatWentWellMakesGoodAgain) {
  b.errors["RESTORE"] = "OOM command not allowed when used memory > 'maxmemory'.";
  want("it", request(kA, kB));
  wait_for_ends(1);
  b.errors.clear();
  want("well", request(kA, kB));
  wait_for_ends(2);
  EXPECT_EQ(ended_[1].end, MoveEnd::kCommitted) << ended_[1].why;
  EXPECT_EQ(board().refusal(kB, End::kDestination), "");
}

TEST_F(MoveBoardTest, KeysOfSomebodyElseLetTheDestinationRest) {
  put_keys(kA, 20, kB);
  want("it", request(kA, kB));
  wait_for_ends(1);
  EXPECT_EQ(ended_[0].end, MoveEnd::kAborted);
  EXPECT_NE(board().refusal(kB, End::kDestination).find("that no move put there"),
            std::string::npos);
}

TEST_F(MoveBoardTest, WhatRoutersOrPersonsStoppedIsNoServersFault) {
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  EXPECT_TRUE(board().abort(*begun_.at("it"), "no more"));
  wait_for_ends(1);
  EXPECT_TRUE(told("refused").empty());
  EXPECT_EQ(board().refusal(kA, End::kSource) + board().refusal(kB, End::kDestination), "");
}

// ---- keys that cannot be moved ------------------------------------------------------------------

// Of a's keys one that the first half holds.
TEST_F(MoveBoardTest, AKeyThatCannotMoveStaysAndTheRestGoesAroundIt) {
  const ring::RangeSet half = half_of(kA);
  const ring::RingSnapshot view = *ring::RingView::build(document());
  const auto huge = std::ranges::find_if(
      keys_[kA], [&](const std::string& key) { return ring::contains(half, view->token_of(key)); });
  ASSERT_NE(huge, keys_[kA].end());
  a.sizes[*huge] = std::uint64_t{600} << 20U;
  want("it", request(kA, kB));
  wait_for_ends(2);
  EXPECT_EQ(ended_[0].end, MoveEnd::kAborted);
  EXPECT_EQ(ended_[1].end, MoveEnd::kCommitted) << ended_[1].why;
  ASSERT_EQ(told("unsplittable").size(), 1U);
  EXPECT_NE(told("unsplittable")[0].find("stays where it is: it has"), std::string::npos);
  EXPECT_FALSE(ring::contains(ended_[1].move.ranges, view->token_of(*huge)));
  const ring::RingSnapshot after = *ring::RingView::build(document());
  EXPECT_EQ(after->owner(view->token_of(*huge)), kA);
  EXPECT_FALSE(b.values.contains(*huge));
}

TEST_F(MoveBoardTest, WhereNothingIsLeftToMoveNothingIsTried) {
  const std::string& huge = keys_[kA][0];
  a.sizes[huge] = std::uint64_t{600} << 20U;
  const Token token = (*ring::RingView::build(document()))->token_of(huge);
  want("it",
       {.ranges = {{token, token}}, .source = kA, .destination = kB, .reason = "test", .now = {}});
  wait_for_ends(1);
  loop.run_for(seconds{2});
  EXPECT_EQ(ended_.size(), 1U);
  EXPECT_EQ(told("unsplittable").size(), 1U);
}

TEST_F(MoveBoardTest, WindingDownGoesAroundNothing) {
  for (const std::string& key : keys_[kA]) a.sizes[key] = std::uint64_t{600} << 20U;
  on_ended_ = [this](const MoveRecord&) { board().wind_down("the router is being stopped"); };
  want("it", request(kA, kB));
  wait_for_ends(1);
  loop.run_for(seconds{2});
  EXPECT_EQ(ended_.size(), 1U);
  EXPECT_TRUE(board().idle() || document().leftovers.empty());
}

// ---- what is shown ------------------------------------------------------------------------------

TEST_F(MoveBoardTest, StatusShowsTheDocumentsMoveAndWhatItWaitsFor) {
  r2.silent = true;
  want("it", request(kA, kB));
  loop.run_for(milliseconds{500});
  const std::vector<MoveStatus> all = board().status();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].move, document().moves.at(0));
  EXPECT_EQ(all[0].step, "await-copying");
  EXPECT_EQ(all[0].waits_for, "routers r2");
  EXPECT_FALSE(board().fencing());
}

TEST_F(MoveBoardTest, AFenceIsKnownAsLongAsItLasts) {
  want("it", request(kA, kB));
  std::vector<bool> fencing;
  ASSERT_TRUE(loop.run_until([&] {
    if (fencing.empty() || fencing.back() != board().fencing())
      fencing.push_back(board().fencing());
    return !ended_.empty();
  }));
  EXPECT_EQ(fencing, (std::vector<bool>{false, true, false}));
}

TEST_F(MoveBoardTest, ABoardThatGoesInTheMiddleTellsNobody) {
  want("it", request(kA, kB));
  ASSERT_TRUE(loop.run_until([this] { return has_begun("it"); }));
  want("waiting", request(kA, kC, true));
  board_.reset();
  loop.run_for(seconds{5});
  EXPECT_TRUE(ended_.empty());
  EXPECT_FALSE(begun_.contains("waiting"));
}

}  // namespace
}  // namespace cleave::control
