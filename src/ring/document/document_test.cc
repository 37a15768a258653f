#include "ring/document/document.h"

#include <gtest/gtest.h>

#include <functional>

#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

using testing::make_document;
using testing::make_node;

TokenRange range(std::uint64_t first, std::uint64_t last) { return {Token{first}, Token{last}}; }

// Two nodes, two cuts, two moves, two routers: something of everything.
Document full_document() {
  Document document = make_document({1, 1});
  document.epoch = Epoch{20};
  document.cuts = {{range(10, 20), NodeId{1}, "one", UnixMillis{1}, {}},
                   {range(21, 30), NodeId{2}, "two", UnixMillis{2}, UnixMillis{9}}};
  document.moves = {
      {MoveId{5}, {range(10, 12)}, NodeId{1}, NodeId{2}, Phase::kFenced, Epoch{7}, "hot", {}},
      {MoveId{6}, {range(14, 15)}, NodeId{1}, NodeId{2}, Phase::kCopying, Epoch{6}, "hot", {}}};
  document.routers = {{.session = SessionId{"r1"}}, {.session = SessionId{"r2"}}};
  document.leader = {SessionId{"r2"}, Term{3}};
  document.expected = {{.name = "launch",
                        .lead_from = UnixMillis{10},
                        .start = UnixMillis{20},
                        .end = UnixMillis{30},
                        .loads = {{range(1, 1), 100}}},
                       {.name = "sale",
                        .lead_from = UnixMillis{10},
                        .start = UnixMillis{10},
                        .end = UnixMillis{30},
                        .loads = {{range(1, 1), 100}, {range(5, 9), 100}}}};
  return document;
}

TEST(Document, FindsByIdNameAndSession) {
  const Document document = full_document();
  EXPECT_EQ(find_node(document, NodeId{2})->name, "b");
  EXPECT_EQ(find_node(document, "a")->id, NodeId{1});
  EXPECT_EQ(find_node(document, NodeId{3}), nullptr);
  EXPECT_EQ(find_node(document, "c"), nullptr);
  EXPECT_EQ(find_move(document, MoveId{6})->phase, Phase::kCopying);
  EXPECT_EQ(find_move(document, MoveId{7}), nullptr);
  EXPECT_TRUE(has_router(document, SessionId{"r1"}));
  EXPECT_FALSE(has_router(document, SessionId{"r3"}));
}

TEST(Document, NamesOfPhasesAndModesRoundTrip) {
  for (const Phase phase : {Phase::kCopying, Phase::kFenced, Phase::kClean}) {
    EXPECT_EQ(parse_phase(to_string(phase)).value_or(Phase::kCopying), phase);
  }
  for (const Mode mode : {Mode::kObserve, Mode::kApprove, Mode::kAuto}) {
    EXPECT_EQ(parse_mode(to_string(mode)).value_or(Mode::kObserve), mode);
  }
  for (const NodeState state : {NodeState::kActive, NodeState::kDraining}) {
    EXPECT_EQ(parse_node_state(to_string(state)).value_or(NodeState::kActive), state);
  }
  EXPECT_EQ(parse_mode("manual").error().code, Code::kInvalid);
  EXPECT_EQ(parse_phase("Clean").error().code, Code::kInvalid);
  EXPECT_EQ(parse_node_state("").error().code, Code::kInvalid);
}

struct Breakage {
  const char* says;  // part of the message
  std::function<void(Document&)> break_it;
};

const std::vector<Breakage>& breakages_of_nodes() {
  static const std::vector<Breakage> list = {
      {"epoch 0", [](Document& d) { d.epoch = Epoch{0}; }},
      {"epoch 9007199254740992", [](Document& d) { d.epoch = Epoch{kNumberMax + 1}; }},
      {"pool ''", [](Document& d) { d.pool = ""; }},
      {"pool 'a\nb'", [](Document& d) { d.pool = "a\nb"; }},
      {"mark '\xFF'", [](Document& d) { d.mark = "\xFF"; }},
      {"no scheme is named 'x'", [](Document& d) { d.scheme.name = "x"; }},
      {"has no option 'hash'", [](Document& d) { d.scheme.options = {{"hash", "md5"}}; }},
      {"option hash: want at most 1048576 bytes",
       [](Document& d) { d.scheme.options = {{"hash", std::string(1'048'577, 'x')}}; }},
      {"option hash: want at most", [](Document& d) { d.scheme.options = {{"hash", "\xFF"}}; }},
      {"hash key 'a\nb'", [](Document& d) { d.nodes[0].hash_key = "a\nb"; }},
      {"two nodes named 'a'", [](Document& d) { d.nodes[1].name = "a"; }},
      {"node name ''", [](Document& d) { d.nodes[1].name = ""; }},
      {"node name", [](Document& d) { d.nodes[1].name = std::string(256, 'x'); }},
      {"not sorted by id", [](Document& d) { d.nodes[0].id = NodeId{2}; }},
      {"has id 0", [](Document& d) { d.nodes[0].id = NodeId{0}; }},
      {"next_node 2", [](Document& d) { d.next_node = NodeId{2}; }},
      {"weight 0", [](Document& d) { d.nodes[0].weight = 0; }},
      {"weight 1001", [](Document& d) { d.nodes[0].weight = 1'001; }},
      {"has no member", [](Document& d) { d.nodes[0].members.clear(); }},
      {"host:port", [](Document& d) { d.nodes[0].members[0].address = "nowhere"; }},
      {"host:port", [](Document& d) { d.nodes[0].members[0].address = ":1"; }},
      {"host:port", [](Document& d) { d.nodes[0].members[0].address = "h:0"; }},
      {"host:port", [](Document& d) { d.nodes[0].members[0].address = "h:65536"; }},
      {"host:port", [](Document& d) { d.nodes[0].members[0].address = "h:1x"; }},
      {"given twice", [](Document& d) { d.nodes[0].members = d.nodes[1].members; }},
      {"rack '\x01'", [](Document& d) { d.nodes[0].members[0].rack = "\x01"; }},
      {"no active node",
       [](Document& d) { d.nodes[0].state = d.nodes[1].state = NodeState::kDraining; }},
      {"no active node", [](Document& d) { d.nodes.clear(); }},
      {"ends before it begins", [](Document& d) { d.cuts[0].range = range(9, 8); }},
      {"not after the one before", [](Document& d) { d.cuts[1].range = range(20, 30); }},
      {"not after the one before", [](Document& d) { std::swap(d.cuts[0], d.cuts[1]); }},
      {"node 9, which is unknown", [](Document& d) { d.cuts[0].node = NodeId{9}; }},
      {"has a time", [](Document& d) { d.cuts[0].created = UnixMillis{-1}; }},
      {"has a time", [](Document& d) { d.cuts[0].pinned_until = UnixMillis{1LL << 53}; }},
  };
  return list;
}

const std::vector<Breakage>& breakages_of_moves() {
  static const std::vector<Breakage> list = {
      {"move 5 ends where it begins", [](Document& d) { d.moves[0].destination = NodeId{1}; }},
      {"move 5 names node 9", [](Document& d) { d.moves[0].source = NodeId{9}; }},
      {"phase epoch 4", [](Document& d) { d.moves[0].phase_epoch = Epoch{4}; }},
      {"phase epoch 21", [](Document& d) { d.moves[0].phase_epoch = Epoch{21}; }},
      {"move 0", [](Document& d) { d.moves[0].id = MoveId{0}; }},
      {"has no range", [](Document& d) { d.moves[0].ranges.clear(); }},
      {"a range that ends", [](Document& d) { d.moves[0].ranges = {range(12, 10)}; }},
      {"not sorted, disjoint",
       [](Document& d) { d.moves[0].ranges = {range(10, 11), range(12, 12)}; }},
      {"share tokens", [](Document& d) { d.moves[1].ranges = {range(12, 13)}; }},
      {"not sorted by id", [](Document& d) { std::swap(d.moves[0], d.moves[1]); }},
      {"move 5 has a time", [](Document& d) { d.moves[0].started = UnixMillis{-5}; }},
      {"not sorted and unique", [](Document& d) { d.routers[1] = d.routers[0]; }},
      {"session ''", [](Document& d) { d.routers[0].session = SessionId{""}; }},
      {"peer '", [](Document& d) { d.routers[0].peer = "a\nb"; }},
      {"router 'r1': reader 0", [](Document& d) { d.routers[0].reader = 0; }},
      {"leader 'r9'", [](Document& d) { d.leader.session = SessionId{"r9"}; }},
      {"leader without a term", [](Document& d) { d.leader.term = Term{0}; }},
      {"event ''", [](Document& d) { d.expected[0].name = ""; }},
      {"event 'launch' has a time", [](Document& d) { d.expected[0].end = UnixMillis{1LL << 53}; }},
      {"ends before it starts", [](Document& d) { d.expected[0].end = UnixMillis{20}; }},
      {"lead time after its start", [](Document& d) { d.expected[0].lead_from = UnixMillis{21}; }},
      {"expects no load", [](Document& d) { d.expected[0].loads.clear(); }},
      {"not after the range before it",
       [](Document& d) { std::swap(d.expected[1].loads[0], d.expected[1].loads[1]); }},
      {"load 0", [](Document& d) { d.expected[0].loads[0].load = 0; }},
      {"event 'launch' is not sorted",
       [](Document& d) { std::swap(d.expected[0], d.expected[1]); }},
      {"knows no expected load", [](Document& d) { d.routers[0].reader = 2; }},
      {"the term is above", [](Document& d) { d.leader.term = Term{kNumberMax + 1}; }},
  };
  return list;
}

TEST(Validate, TakesAGoodDocument) {
  const auto valid = validate(full_document());
  EXPECT_TRUE(valid) << valid.error().message;
}

// Each must be noticed, and named.
void expect_named(const std::vector<Breakage>& list) {
  for (const Breakage& breakage : list) {
    Document document = full_document();
    breakage.break_it(document);
    const auto valid = validate(document);
    ASSERT_FALSE(valid) << breakage.says;
    EXPECT_EQ(valid.error().code, Code::kInvalid);
    EXPECT_NE(valid.error().message.find(breakage.says), std::string::npos)
        << valid.error().message << "\nshould say: " << breakage.says;
  }
}

TEST(Validate, NamesEveryBrokenInvariant) { expect_named(breakages_of_nodes()); }
TEST(Validate, NamesEveryBrokenInvariantOfMoves) { expect_named(breakages_of_moves()); }

TEST(Validate, RefusesMoreWeightThanCanBeBuilt) {
  Document document = full_document();
  for (std::uint32_t i = 0; i < 70; ++i) {
    Node node = make_node("n" + std::to_string(i), kWeightMax);
    node.id = document.next_node;
    document.next_node = NodeId{node.id.value() + 1};
    document.nodes.push_back(node);
  }
  EXPECT_NE(validate(document).error().message.find("weights sum"), std::string::npos);
}

}  // namespace
}  // namespace cleave::ring
