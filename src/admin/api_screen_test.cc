// What the HTTP interface tells people, and what it refuses because somebody slipped.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "admin/api.h"
#include "admin/api_testing.h"
#include "admin/past_decisions.h"

namespace cleave::admin {
namespace {

class ScreenTest : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& path,
                        const std::map<std::string, std::string>& query = {},
                        const std::string& body = "") {
    net::HttpRequest request = request_of(method, path, body);
    request.query = query;
    return answer_to(api_, request);
  }
  Json get(const std::string& path, const std::map<std::string, std::string>& query = {}) {
    const net::HttpResponse response = ask("GET", path, query);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  std::string added(const std::string& body) {
    operator_.orders.clear();
    const net::HttpResponse response = ask("POST", "/nodes", {}, body);
    return std::to_string(response.status) + " " +
           (operator_.orders.empty() ? response.body : operator_.orders.front());
  }

  RecordingOperator operator_;
  RecordingRouter router_;
  Api api_{
      {.order_taker = operator_, .router = router_, .wall_now = [] { return UnixMillis{5'000}; }}};
};

TEST_F(ScreenTest, AKeyThatIsShownCanBeGivenBack) {
  for (const std::string& key :
       {std::string("\xff"
                    "1"),
        std::string("\xfe"
                    "1"),
        std::string("quote\"x\\y"), std::string("new\nline"), std::string(1, '\0')}) {
    const Json place = get("/locate", {{"key", key}});
    const auto shown = place["key"].get<std::string>();
    EXPECT_EQ(get("/locate", {{"key", shown}})["token"], place["token"]) << shown;
    const net::HttpResponse moved =
        ask("POST", "/moves", {}, Json{{"key", shown}, {"to", "b"}}.dump());
    EXPECT_EQ(moved.status, 202) << moved.body;
    EXPECT_NE(operator_.orders.back().find(place["token"].get<std::string>()), std::string::npos);
  }
}

TEST_F(ScreenTest, ANodeThatJoinsHasAPlainNameAndANewServer) {
  EXPECT_EQ(added(R"({"name":"c","members":["127.0.0.1:7003"]})"), "200 add c 127.0.0.1:7003 x1");
  for (const char* name : {"with space", "new\\nline", "", "a/b"}) {
    const std::string body =
        std::string(R"({"members":["127.0.0.1:7003"],"name":")") + name + "\"}";
    EXPECT_TRUE(added(body).starts_with("400 ")) << name;
  }
  router_.identified = fail(Code::kUnavailable, "connection refused");
  EXPECT_NE(added(R"({"name":"c","members":["127.0.0.1:7003"]})").find("does not serve"),
            std::string::npos);
  EXPECT_EQ(added(R"({"name":"c","members":["127.0.0.1:7003"],"force":true})"),
            "200 add c 127.0.0.1:7003 x1");
  router_.identified = std::string("run-b");
  EXPECT_NE(added(R"({"name":"c","members":["localhost:7002"]})").find("it is node b"),
            std::string::npos);
}

TEST_F(ScreenTest, ADoubleIsRefusedAlsoByForceAndOfEveryMember) {
  router_.servers = {{"127.0.0.1:7003", "run-c"},
                     {"127.0.0.1:7004", "run-d"},
                     {"10.0.0.1:7003", "run-c"},
                     {"localhost:7002", "run-b"}};
  for (const char* force : {"false", "true"}) {
    const auto said = [&](const std::string& members) {
      return added(R"({"name":"c","members":[)" + members + R"(],"force":)" + force + "}");
    };
    EXPECT_EQ(said(R"("127.0.0.1:7003","127.0.0.1:7004")"), "200 add c 127.0.0.1:7003 x1");
    EXPECT_NE(said(R"("localhost:7002")").find("it is node b"), std::string::npos);
    EXPECT_NE(said(R"("127.0.0.1:7003","localhost:7002")").find("it is node b"), std::string::npos);
    EXPECT_NE(said(R"("127.0.0.1:7003","10.0.0.1:7003")").find("the one at 127.0.0.1:7003 too"),
              std::string::npos);
  }
}

TEST_F(ScreenTest, NotReadyNamesTheServersAndWhy) {
  router_.serves = false;
  const net::HttpResponse response = ask("GET", "/ready");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("node b: connection refused"), std::string::npos) << response.body;
}

TEST_F(ScreenTest, WhatIsNotKnownIsLeftOut) {
  control::NodeFacts facts;
  facts.node = NodeId{1};
  facts.reachable = true;
  facts.keys = 7;
  operator_.state.nodes.push_back(facts);
  facts.node = NodeId{2};
  facts.reachable = false;
  operator_.state.nodes.push_back(facts);
  heat::Picture picture;
  picture.observed = milliseconds{500};  // just after a change of the leader
  picture.nodes = {{.node = NodeId{1}, .load = {}, .requests = 0}};
  operator_.state.heat = std::make_shared<const heat::Picture>(picture);
  Json status = get("/status");
  EXPECT_EQ(status["nodes"][0]["keys"], 7);
  EXPECT_FALSE(status["nodes"][1].contains("keys"));
  EXPECT_FALSE(status["nodes"][0].contains("requests_per_s"));
  EXPECT_FALSE(status.contains("hottest"));
  picture.observed = seconds{5};
  operator_.state.heat = std::make_shared<const heat::Picture>(picture);
  status = get("/status");
  EXPECT_EQ(status["nodes"][0]["requests_per_s"], 0);
  EXPECT_TRUE(status["hottest"].is_null());
}

TEST_F(ScreenTest, ADecisionNamesWhatItMoves) {
  control::DecisionRecord decision;
  decision.at = UnixMillis{5};
  decision.kind = "moved";
  decision.move = control::DecidedMove{.id = MoveId{9},
                                       .source = "a",
                                       .destination = "b",
                                       .ranges = {{Token{1}, Token{2}}},
                                       .keys = 3,
                                       .bytes = 4,
                                       .source_before = 50,
                                       .source_after = 30};
  operator_.state.decisions = {decision};
  const Json told = get("/decisions")["decisions"][0];
  EXPECT_EQ(told["move"], 9);
  EXPECT_EQ(told["source"], "a");
  EXPECT_EQ(told["destination"], "b");
  EXPECT_EQ(told["ranges"][0]["last"], "0000000000000002");
  EXPECT_EQ(told["source_load_ns"]["before"], 50);
  EXPECT_EQ(told["source_load_ns"]["after"], 30);
}

}  // namespace
}  // namespace cleave::admin
