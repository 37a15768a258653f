#include "admin/past_moves.h"

#include <gtest/gtest.h>

#include <string>

#include "admin/api.h"
#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

class UndoTest : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& path,
                        const std::string& body = "") {
    return answer_to(api_, request_of(method, path, body));
  }
  Json get(const std::string& path) { return Json::parse(ask("GET", path).body); }
  // The orders of the operator, after one request that must be answered with `status`.
  std::string order(int status, const std::string& path, const std::string& body = "") {
    operator_.orders.clear();
    const net::HttpResponse response = ask("POST", path, body);
    EXPECT_EQ(response.status, status) << path << " -> " << response.body;
    return operator_.orders.empty() ? "" : operator_.orders.front();
  }

  RecordingOperator operator_;
  RecordingRouter router_;
  Api api_{
      {.order_taker = operator_, .router = router_, .wall_now = [] { return UnixMillis{5'000}; }}};
};

TEST_F(UndoTest, AnUndoIsAMoveBackOfWhatTheDestinationStillOwns) {
  const ring::TokenRange all = operator_.state.view->owned_by(NodeId{2}).front();
  const ring::TokenRange one{all.first, all.first};
  const auto record = [&](std::uint64_t id, control::MoveEnd end, NodeId from, NodeId to) {
    ring::Move move;
    move.id = MoveId{id};
    move.ranges = {one};
    move.source = from;
    move.destination = to;
    operator_.state.ended.push_back({.move = move, .end = end, .why = "", .ended = {}});
  };
  record(9, control::MoveEnd::kAborted, NodeId{1}, NodeId{2});
  record(7, control::MoveEnd::kCommitted, NodeId{1}, NodeId{2});
  record(5, control::MoveEnd::kCommitted, NodeId{2}, NodeId{1});
  const std::string back = "move " + ring::to_string(one) + " from 2 to 1: undo of move ";
  EXPECT_EQ(order(202, "/moves/7/undo"), back + "7");
  EXPECT_EQ(order(202, "/moves/undo",
                  R"({"ranges":[{"first":")" + ring::to_hex(one.first) + R"(","last":")" +
                      ring::to_hex(one.last) + R"("}]})"),
            back + "7");
  EXPECT_EQ(order(404, "/moves/9/undo"), "") << "it was aborted";
  EXPECT_EQ(order(404, "/moves/8/undo"), "");
  EXPECT_EQ(order(409, "/moves/5/undo"), "") << "a owns none of it";
  EXPECT_NE(ask("POST", "/moves/8/undo").body.find("no committed move 8 is known"),
            std::string::npos);
}

TEST_F(UndoTest, AnUndoKnowsTheMovesOfTheLeadersBefore) {
  const ring::TokenRange there = operator_.state.view->owned_by(NodeId{2}).front();
  const auto moved = [&](std::uint64_t id, const char* to, const ring::TokenRange& range) {
    control::DecisionRecord decision;
    decision.at = UnixMillis{static_cast<std::int64_t>(id)};
    decision.kind = "moved";
    decision.reason = "hot";
    decision.move = control::DecidedMove{
        .id = MoveId{id}, .source = "a", .destination = to, .ranges = {range}, .keys = 3};
    return render_decision(decision);
  };
  router_.past.learn({moved(4, "b", there), moved(6, "gone", there),
                      moved(8, "b", {ring::kFirstToken, ring::kLastToken})});
  const Json moves = get("/moves")["ended"];
  ASSERT_EQ(moves.size(), 3U);
  EXPECT_EQ(moves[0]["id"], 8);
  EXPECT_EQ(moves[2]["ranges"][0]["last"], ring::to_hex(there.last));
  EXPECT_EQ(moves[2]["end"], "committed");
  EXPECT_EQ(moves[2]["keys_copied"], 3);
  EXPECT_FALSE(moves[2].contains("fenced_us")) << "what is not known is left out";

  EXPECT_EQ(order(202, "/moves/4/undo"),
            "move " + ring::to_string(there) + " from 2 to 1: undo of move 4");
  EXPECT_EQ(order(409, "/moves/6/undo"), "") << "its destination is gone";
  const Json whole = Json::parse(ask("POST", "/moves/8/undo").body);
  EXPECT_NE(whole["warnings"][0].get<std::string>().find("another owner since"), std::string::npos)
      << "a part of it is a's";
}

TEST_F(UndoTest, AnUndoIsWarnedOfAsAMoveIs) {
  control::NodeFacts facts;
  facts.node = NodeId{2};
  facts.foreign_writes = true;
  facts.unattributed_writes = 40;
  operator_.state.nodes = {facts};
  ring::Move move;
  move.id = MoveId{7};
  move.ranges = operator_.state.view->owned_by(NodeId{2});
  move.source = NodeId{1};
  move.destination = NodeId{2};
  operator_.state.ended = {
      {.move = move, .end = control::MoveEnd::kCommitted, .why = "", .ended = {}}};
  const Json answer = Json::parse(ask("POST", "/moves/7/undo").body);
  EXPECT_NE(answer["warnings"][0].get<std::string>().find("40 writes a second"), std::string::npos);
}

TEST(PastMoves, WhatIsNoDecisionOfAMoveIsPassedOver) {
  const Json broken = Json::parse(
      R"([7, {"kind": "moved"}, {"kind": "moved", "move": 4, "ranges": []},
          {"kind": "moved", "move": 4, "ranges": [{"first": "2", "last": "1"}]},
          {"kind": "moved", "move": 4, "ranges": [{"first": 2}]},
          {"kind": "moved", "move": "4", "ranges": [{"first": "1", "last": "2"}]},
          {"kind": "move", "move": 4, "ranges": [{"first": "1", "last": "2"}]}])");
  EXPECT_FALSE(find_committed(broken, MoveId{4}));
  EXPECT_FALSE(find_committed(broken, ring::RangeSet{{Token{1}, Token{1}}}));
}

}  // namespace
}  // namespace cleave::admin
