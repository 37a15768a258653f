// The past through the HTTP interface, from a real history file.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "admin/api.h"
#include "admin/api_testing.h"
#include "admin/render.h"

namespace cleave::admin {
namespace {

using nlohmann::json;

class ApiHistoryTest : public testing::Test {
 protected:
  ~ApiHistoryTest() override { std::filesystem::remove(path_); }

  net::HttpResponse get(const std::string& path, std::map<std::string, std::string> query) {
    return ask("GET", path, std::move(query));
  }
  net::HttpResponse ask(const std::string& method, const std::string& path,
                        std::map<std::string, std::string> query) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.headers = {{"content-type", "application/json"}};
    request.query = std::move(query);
    std::promise<net::HttpResponse> answer;
    api_.handle(request,
                [&](net::HttpResponse response) { answer.set_value(std::move(response)); });
    return answer.get_future().get();
  }

  const std::string path_ = testing::TempDir() + "api_history_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".history";
  SystemClock clock_;
  RecordingOperator operator_;
  RecordingRouter router_;
  // Callbacks run on the store's thread; this one only waits meanwhile.
  history::Store store_{{.path = path_,
                         .clock = clock_,
                         .post = [](const std::function<void()>& callback) { callback(); }}};
  Api api_{{.order_taker = operator_,
            .router = router_,
            .wall_now = [this] { return clock_.wall_now(); },
            .history = &store_}};
};

TEST_F(ApiHistoryTest, HeatBetweenTwoTimes) {
  const UnixMillis now = clock_.wall_now();
  for (const std::int64_t age : {60'000, 30'000, 0}) {
    store_.append({.at = UnixMillis{now.value() - age},
                   .covers = milliseconds{10'000},
                   .nodes = {{.id = 2, .load = 500, .requests = 20, .writes = 5}},
                   .strips = {{.id = 63, .load = 500, .requests = 20, .writes = 5}}});
  }
  const net::HttpResponse response = get("/heat", {{"from", std::to_string(now.value() - 40'000)},
                                                   {"to", std::to_string(now.value() - 20'000)}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json points = json::parse(response.body)["points"];
  ASSERT_EQ(points.size(), 1U) << response.body;
  EXPECT_EQ(points[0]["at_ms"], now.value() - 30'000);
  EXPECT_EQ(points[0]["nodes"][0]["node"], "b");
  EXPECT_EQ(points[0]["nodes"][0]["load_ns"], 500);
  EXPECT_EQ(points[0]["strips"][0]["first"], "fc00000000000000");
  EXPECT_EQ(points[0]["strips"][0]["last"], "ffffffffffffffff");
}

TEST_F(ApiHistoryTest, DecisionsOfFormerLives) {
  control::DecisionRecord decision;
  decision.at = clock_.wall_now();
  decision.kind = "move";
  decision.reason = "hot";
  store_.append_decision(decision.at, to_body(render_decision(decision)));
  const net::HttpResponse response = get("/decisions", {{"since", "0"}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json decisions = json::parse(response.body)["decisions"];
  ASSERT_EQ(decisions.size(), 1U) << response.body;
  EXPECT_EQ(decisions[0]["reason"], "hot");
}

TEST_F(ApiHistoryTest, AnUndoKnowsMovesOfTheFile) {
  control::DecisionRecord decision;
  decision.at = UnixMillis{clock_.wall_now().value() - 3 * 24LL * 3'600'000};
  decision.kind = "moved";
  decision.move = control::DecidedMove{.id = MoveId{4},
                                       .source = "a",
                                       .destination = "b",
                                       .ranges = operator_.state.view->owned_by(NodeId{2})};
  store_.append_decision(decision.at, to_body(render_decision(decision)));
  EXPECT_EQ(ask("POST", "/moves/4/undo", {}).status, 202);
  ASSERT_EQ(operator_.orders.size(), 1U);
  EXPECT_TRUE(operator_.orders[0].ends_with(" from 2 to 1: undo of move 4")) << operator_.orders[0];
  EXPECT_EQ(ask("POST", "/moves/5/undo", {}).status, 404);
}

TEST_F(ApiHistoryTest, BadTimesAreRefused) {
  EXPECT_EQ(get("/heat", {{"from", "20"}, {"to", "10"}}).status, 400);
  EXPECT_EQ(get("/heat", {{"from", "x"}}).status, 400);
  EXPECT_EQ(get("/decisions", {{"since", "yesterday"}}).status, 400);
}

}  // namespace
}  // namespace cleave::admin
