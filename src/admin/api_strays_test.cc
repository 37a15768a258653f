// Requests about strays, adoption and nodes that leave.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

using Json = nlohmann::json;

class StraysApi : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& target,
                        const std::string& body = "") {
    return answer_to(api_, request_of(method, target, body));
  }
  Json get(const std::string& target) { return Json::parse(ask("GET", target).body); }

  RecordingOperator operator_;
  RecordingRouter router_;
  Api api_{{.order_taker = operator_, .router = router_, .wall_now = [] { return UnixMillis{5}; }}};
};

TEST_F(StraysApi, TheSurveyTellsWhatTheRingDoesNotFind) {
  const Json survey = get("/adopt");
  const Json& node = survey["nodes"][0];
  EXPECT_EQ(node["strays"]["seen"], 2);
  EXPECT_EQ(node["strays"]["share_ppm"], 400'000);
  EXPECT_EQ(node["strays"]["examples"][0],
            (Json{{"key", "k1"}, {"key_hex", "6b31"}, {"owner", "b"}}));
  EXPECT_EQ(node["other_databases"][0], (Json{{"database", 3}, {"keys", 7}}));
  EXPECT_EQ(node["scripts"][0], (Json{{"command", "eval"}, {"calls", 12}}));
  EXPECT_EQ(survey["fits"]["scheme"], "modulo");
  EXPECT_EQ(survey["fits"]["scheme_options"]["hash"], "crc32");
}

// What is no UTF-8 can be told apart, and given back, by its bytes.
TEST_F(StraysApi, StraysAreListedByTheirBytes) {
  const Json node = get("/strays")["nodes"][0];
  EXPECT_EQ(node["node"], "a");
  EXPECT_EQ(node["strays"], 1);
  EXPECT_EQ(node["keys"][0]["key_hex"], "ff6b");
  EXPECT_EQ(node["keys"][0]["owner"], "b");
}

TEST_F(StraysApi, StatusAndMetricsCountThem) {
  control::NodeFacts facts;
  facts.node = NodeId{1};
  facts.reachable = true;
  facts.keys = 1'000;
  facts.strays = {.known = true,
                  .count = {.keys = 100, .strays = 2, .whole = false, .examples = {}},
                  .since = UnixMillis{77}};
  facts.databases = {{.number = 2, .keys = 9}};
  operator_.state.nodes = {facts};
  operator_.state.leader = true;
  const Json status = get("/status");
  EXPECT_TRUE(status["fits"].is_null());
  EXPECT_EQ(status["nodes"][0]["other_databases"][0], (Json{{"database", 2}, {"keys", 9}}));
  const Json strays = status["nodes"][0]["strays"];
  EXPECT_EQ(strays["since_exact"], false);
  EXPECT_EQ(strays["strays"], 20);
  EXPECT_EQ(strays["seen"], 2);
  EXPECT_EQ(strays["since_ms"], 77);
  EXPECT_TRUE(ask("GET", "/metrics").body.contains("cleave_node_strays{node=\"a\"} 20\n"));
  EXPECT_EQ(Json::parse(ask("POST", "/nodes/a/drain").body)["left_behind"]["seen"], 2);
}

TEST_F(StraysApi, ANodeIsForgottenByForceOnlyWhenThatIsSaid) {
  EXPECT_EQ(ask("DELETE", "/nodes/b").status, 200);
  EXPECT_EQ(ask("DELETE", "/nodes/b?force").status, 200);
  EXPECT_EQ(operator_.orders, (std::vector<std::string>{"remove 2", "remove 2 by force"}));
}

TEST_F(StraysApi, StraysAreHandledPageByPage) {
  const Json moved = Json::parse(ask("POST", "/strays/move", R"({"node":"a"})").body);
  EXPECT_EQ(moved["handled"], 4);
  EXPECT_EQ(moved["kept"][0]["why"], "its owner has one");
  EXPECT_EQ(moved["next"], "12");
  const Json read = Json::parse(ask("POST", "/strays/read", R"({"node":"a","cursor":"12"})").body);
  EXPECT_EQ(read["dumps"][0]["dump_hex"], "00ff");
  EXPECT_EQ(read["dumps"][0]["hash"], "0000000000000abc");
  const Json removed =
      Json::parse(ask("POST", "/strays/remove",
                      R"({"node":"a","keys":[{"key_hex":"6b","hash":"0000000000000abc"}]})")
                      .body);
  EXPECT_EQ(removed["handled"], 1);
  EXPECT_EQ(operator_.orders,
            (std::vector<std::string>{"move strays of 1 from ''", "read strays of 1 from '12'",
                                      "remove strays of 1 k/0000000000000abc"}));
}

TEST_F(StraysApi, StraysAreAccepted) {
  EXPECT_EQ(Json::parse(ask("POST", "/strays/accept").body)["strays"], 7);
  EXPECT_EQ(operator_.orders, (std::vector<std::string>{"accept strays"}));
}

TEST_F(StraysApi, AnOrderThatIsNotUnderstoodDoesNothing) {
  for (const std::string body : {R"({})", R"({"node":"z"})", R"({"node":"a","cursor":7})"})
    EXPECT_GE(ask("POST", "/strays/move", body).status, 400) << body;
  for (const std::string keys : {R"([{"key_hex":"6","hash":"00"}])", R"([{"key_hex":"6b"}])",
                                 R"([{"key_hex":"zz","hash":"00"}])"})
    EXPECT_EQ(ask("POST", "/strays/remove", R"({"node":"a","keys":)" + keys + "}").status, 400);
  EXPECT_EQ(ask("POST", "/strays/eat", "{}").status, 404);
  EXPECT_TRUE(operator_.orders.empty());
}

}  // namespace
}  // namespace cleave::admin
