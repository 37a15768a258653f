#include "app/text/status_summary.h"

#include <gtest/gtest.h>

#include <functional>

#include "admin/render.h"
#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"

namespace cleave::app {
namespace {

// With everything that an export asks for: options, a hash key, racks, two members, a gap between
// ids, a node that drains, cuts, a move.
ring::Document document() {
  std::vector<ring::Node> nodes = ring::testing::make_nodes({1, 2, 1});
  nodes[0].hash_key = "10.0.0.1:6379";
  nodes[1].members.push_back({.address = "b.example:7001", .rack = "r2"});
  nodes[2].id = NodeId{70};
  auto made = ring::create({.pool = "main",
                            .mark = "m",
                            .nodes = nodes,
                            .scheme = {.name = "haproxy", .options = {{"method", "consistent"}}},
                            .now = UnixMillis{1}});
  EXPECT_TRUE(made) << made.error().message;
  made->routers = {{.session = SessionId{"r1"}}};
  const auto drained = ring::drain_node(*made, NodeId{2}, UnixMillis{2});
  EXPECT_TRUE(drained) << drained.error().message;
  const ring::Cut& cut = drained->cuts.front();
  auto moving = ring::begin_move(*drained, {.ranges = {cut.range},
                                            .source = cut.node,
                                            .destination = NodeId{70},
                                            .reason = "test",
                                            .now = UnixMillis{3}});
  EXPECT_TRUE(moving) << moving.error().message;
  return moving.value_or(ring::Document{});
}

// As a router that follows the document answers.
Json status_of(const ring::Document& document) {
  control::Status status{};
  status.view = ring::testing::view_of(document);
  for (const ring::Move& move : document.moves) {
    status.moves.push_back({.move = move, .step = "copying", .waits_for = ""});
  }
  return admin::render_status({.status = status, .health = {}, .router = {}});
}

TEST(StatusSummary, IsThatOfTheDocument) {
  const ring::Document from = document();
  EXPECT_FALSE(from.cuts.empty());
  EXPECT_EQ(from.moves.size(), 1U);
  const auto told = summary_of(status_of(from));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(*told, convert::summary_of(from));
}

TEST(StatusSummary, RefusesWhatNoRouterSays) {
  const Json good = status_of(document());
  const auto code_of = [&](const std::function<void(Json&)>& change) {
    Json changed = good;
    change(changed);
    const auto told = summary_of(changed);
    return told ? std::optional<Code>() : told.error().code;
  };
  EXPECT_EQ(code_of([](Json&) {}), std::nullopt);
  EXPECT_EQ(code_of([](Json& json) { json.erase("pool"); }), Code::kUnavailable);
  EXPECT_EQ(code_of([](Json& json) { json = Json::array(); }), Code::kUnavailable);
  EXPECT_EQ(code_of([](Json& json) { json["nodes"] = Json::array(); }), Code::kInvalid);
  EXPECT_EQ(code_of([](Json& json) { json["nodes"] = "a"; }), Code::kInvalid);
  EXPECT_EQ(code_of([](Json& json) { json["nodes"][0] = 7; }), Code::kInvalid);
  EXPECT_EQ(code_of([](Json& json) { json["scheme_options"]["hash"] = 7; }), Code::kInvalid);
  for (const char* field : {"id", "name", "weight", "members"}) {
    EXPECT_EQ(code_of([&](Json& json) { json["nodes"][0].erase(field); }), Code::kInvalid);
    EXPECT_EQ(code_of([&](Json& json) { json["nodes"][0][field] = -1; }), Code::kInvalid);
  }
}

}  // namespace
}  // namespace cleave::app
