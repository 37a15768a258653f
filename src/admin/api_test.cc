#include "admin/api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

using nlohmann::json;

class ApiTest : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& target,
                        const std::string& body = "", const std::string& authorization = "") {
    return answer_to(api_, request_of(method, target, body, authorization));
  }
  // How the router that leads, or another one, answers what is passed on to it.
  net::HttpReply elsewhere_;
  std::vector<net::HttpCall> passed_;
  bool unreachable_ = false;

  json get(const std::string& target) {
    const net::HttpResponse response = ask("GET", target);
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body);
  }
  // The orders of the operator, after one request that must be answered with `status`.
  std::string order(int status, const std::string& method, const std::string& target,
                    const std::string& body = "") {
    operator_.orders.clear();
    const net::HttpResponse response = ask(method, target, body);
    EXPECT_EQ(response.status, status) << target << " " << body << " -> " << response.body;
    return operator_.orders.empty() ? "" : operator_.orders.front();
  }
  std::string hex(std::uint64_t token) { return ring::to_hex(Token{token}); }

  RecordingOperator operator_;
  RecordingRouter router_;
  Api api_{{.order_taker = operator_,
            .router = router_,
            .wall_now = [] { return UnixMillis{5'000}; },
            .history = nullptr,
            .ask =
                [this](net::HttpCall call, const auto& done) {
                  if (unreachable_) return done(fail(Code::kUnavailable, "refused"));
                  if (call.sent) call.sent();
                  passed_.push_back(std::move(call));
                  done(elsewhere_);
                },
            .after = {}}};
};

TEST_F(ApiTest, StatusShowsNodesWithShareAndHealth) {
  const json status = get("/status");
  EXPECT_EQ(status["pool"], "main");
  EXPECT_EQ(status["epoch"], 1);
  EXPECT_EQ(status["mode"], "auto");
  EXPECT_EQ(status["leader"], true);
  EXPECT_EQ(status["router"]["requests"], 42);
  ASSERT_EQ(status["nodes"].size(), 2U);
  EXPECT_EQ(status["nodes"][0]["name"], "a");
  EXPECT_EQ(status["nodes"][0]["up"], true);
  EXPECT_EQ(status["nodes"][1]["up"], false);
  EXPECT_EQ(status["nodes"][1]["error"], "connection refused");
  const int shares =
      status["nodes"][0]["share_ppm"].get<int>() + status["nodes"][1]["share_ppm"].get<int>();
  EXPECT_NEAR(shares, 1'000'000, 2);
}

// Router 2 leads, and is reached at 10.0.0.2:7380.
void let_another_lead(control::Status& state) {
  ring::Document document = state.view->document();
  document.routers = {{.session = SessionId{"router-1"}, .peer = "10.0.0.1:7380"},
                      {.session = SessionId{"router-2"}, .peer = "10.0.0.2:7380"}};
  document.leader = {.session = SessionId{"router-2"}, .term = Term{4}};
  state.view = *ring::RingView::build(std::move(document));
  state.leader = false;
}

TEST_F(ApiTest, WhatIsTheLeadersIsAskedOfIt) {
  let_another_lead(operator_.state);
  struct Case {
    std::string method;
    std::string target;
  };
  elsewhere_ = {.status = 202, .headers = {{"content-type", "text/odd"}}, .body = "of the leader"};
  for (const Case& one :
       {Case{"POST", "/moves"}, Case{"POST", "/moves/7/undo"}, Case{"POST", "/plan/approve"},
        Case{"POST", "/flatten"}, Case{"POST", "/adopt"}, Case{"GET", "/adopt"},
        Case{"GET", "/moves"}, Case{"GET", "/plan"}, Case{"GET", "/heat"},
        Case{"GET", "/decisions"}, Case{"GET", "/status?leader"}, Case{"POST", "/presplit"},
        Case{"GET", "/heat?from=1&leader"}}) {
    passed_.clear();
    const net::HttpResponse response = ask(one.method, one.target, "{}", "Bearer mine");
    EXPECT_EQ(response.status, 202) << one.method << one.target;
    EXPECT_EQ(response.body, "of the leader");
    EXPECT_EQ(response.content_type, "text/odd");
    ASSERT_EQ(passed_.size(), 1U);
    const net::HttpCall& call = passed_.front();
    EXPECT_EQ(net::to_string(call.address), "10.0.0.2:7380");
    EXPECT_EQ(call.method + call.target + call.body, one.method + one.target + "{}");
    EXPECT_EQ(net::find_header(call.headers, "authorization"), "Bearer mine");
    EXPECT_EQ(net::find_header(call.headers, "content-type"), "application/json");
  }
  EXPECT_TRUE(operator_.orders.empty());
}

TEST_F(ApiTest, WhatTheLeaderShouldKnowIsDoneHereWithoutIt) {
  let_another_lead(operator_.state);
  elsewhere_ = {.status = 200, .headers = {}, .body = "of the leader"};
  for (const char* target : {"/moves/5/abort", "/moves/abort", "/resume", "/nodes/b/drain"}) {
    operator_.orders.clear();
    unreachable_ = false;
    EXPECT_EQ(ask("POST", target).body, "of the leader");
    EXPECT_TRUE(operator_.orders.empty());
    unreachable_ = true;
    EXPECT_EQ(ask("POST", target).status, 200);
    EXPECT_EQ(operator_.orders.size(), 1U) << target;
  }
  for (const char* target : {"/freeze", "/merges"}) {
    passed_.clear();
    ask("POST", target);
    EXPECT_TRUE(passed_.empty()) << target;
  }
}

TEST_F(ApiTest, WhatWasPassedOnIsNotPassedOnAgain) {
  let_another_lead(operator_.state);
  net::HttpRequest request = request_of("POST", "/flatten", "", "");
  request.headers.emplace_back("cleave-passed-by", "router-2");
  int status = 0;
  api_.handle(request, [&](const net::HttpResponse& response) { status = response.status; });
  EXPECT_EQ(status, 503);
  EXPECT_TRUE(passed_.empty());
}

TEST_F(ApiTest, ALeaderThatDoesNotAnswerIsNamed) {
  let_another_lead(operator_.state);
  unreachable_ = true;
  const net::HttpResponse response = ask("POST", "/flatten");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("the leader does not answer"), std::string::npos);
  const json order = get("/orders?here")["orders"][0];
  EXPECT_EQ(order["fate"], "not-done");
}

TEST_F(ApiTest, AnOrderIsRememberedWithItsFate) {
  ask("POST", "/freeze");
  operator_.answer = fail(Code::kConflict, "it is frozen already");
  ask("POST", "/freeze");
  operator_.answer = fail(Code::kUnavailable, "etcd is away");
  ask("POST", "/mode", R"({"mode":"auto"})");
  operator_.answer = fail(Code::kTimeout, "no reply");
  const net::HttpResponse unknown = ask("POST", "/resume");
  EXPECT_EQ(unknown.status, 504);
  const json error = json::parse(unknown.body)["error"];
  EXPECT_EQ(error["code"], "unknown");
  const json orders = get("/orders?here")["orders"];
  ASSERT_EQ(orders.size(), 4U);
  const auto is = [&](std::size_t at, const char* order, const char* fate, const char* why) {
    const json& one = orders[orders.size() - 1 - at];
    EXPECT_EQ(one["order"], order);
    EXPECT_EQ(one["fate"], fate);
    EXPECT_EQ(one["why"], why);
    return one["id"];
  };
  is(0, "POST /freeze", "done", "");
  is(1, "POST /freeze", "refused", "it is frozen already");
  is(2, R"(POST /mode {"mode":"auto"})", "not-done", "etcd is away");
  EXPECT_EQ(is(3, "POST /resume", "unknown", "no reply"), error["order"]);

  operator_.settled({});
  EXPECT_EQ(get("/orders?here")["orders"][0]["fate"], "done");
  operator_.settled(fail(Code::kConflict, "the coordinator did not take it"));
  EXPECT_EQ(get("/orders?here")["orders"][0]["fate"], "not-done");
}

TEST_F(ApiTest, OrdersOfAllRoutersAreOneList) {
  let_another_lead(operator_.state);
  ask("POST", "/freeze");
  elsewhere_ = {.status = 200,
                .headers = {},
                .body = R"({"orders":[{"id":"x-1","at_ms":6000,"order":"POST /moves"}]})"};
  json told = get("/orders");
  ASSERT_EQ(told["orders"].size(), 2U);
  EXPECT_EQ(told["orders"][0]["id"], "x-1") << "newest first";
  EXPECT_TRUE(told["missing"].empty());
  elsewhere_ = {.status = 404, .headers = {}, .body = "{}"};
  told = get("/orders");
  EXPECT_EQ(told["orders"].size(), 1U);
  EXPECT_EQ(told["missing"][0]["router"], "router-2");
}

TEST_F(ApiTest, HeadIsAnsweredAsGet) {
  EXPECT_EQ(ask("HEAD", "/ready").status, 200);
  EXPECT_EQ(ask("HEAD", "/status").status, 200);
  EXPECT_EQ(ask("HEAD", "/nothing").status, 404);
}

TEST_F(ApiTest, ADecisionNamesWhoWasPassedOverAndUntilWhen) {
  operator_.state.decisions = {{.at = UnixMillis{5},
                                .kind = "nothing",
                                .subject = "node a",
                                .reason = "no-target: full",
                                .predicted = "",
                                .real = "",
                                .passed_over = {{.node = "b", .why = "it lacks memory"}},
                                .until = UnixMillis{9}}};
  const json decision = get("/decisions")["decisions"][0];
  EXPECT_EQ(decision["until_ms"], 9);
  EXPECT_EQ(decision["alternatives"][0], (json{{"node", "b"}, {"why", "it lacks memory"}}));
}

TEST_F(ApiTest, EveryRouterAbortsFreezesAndTellsOfItself) {
  let_another_lead(operator_.state);
  unreachable_ = true;
  EXPECT_EQ(order(200, "POST", "/moves/7/abort"), "abort 7");
  EXPECT_EQ(order(200, "POST", "/freeze"), "freeze");
  EXPECT_EQ(ask("GET", "/presplit").status, 200);
  EXPECT_EQ(get("/status")["leader"], false);
  EXPECT_EQ(ask("GET", "/ready").status, 200);
}

TEST_F(ApiTest, ALeaderThatCannotBeReachedIsNotPointedAt) {
  let_another_lead(operator_.state);
  ring::Document document = operator_.state.view->document();
  document.routers[1].peer.clear();
  operator_.state.view = *ring::RingView::build(std::move(document));
  EXPECT_EQ(ask("GET", "/moves").status, 200) << "it tells what it knows itself";
}

TEST_F(ApiTest, StatusShowsTheRoutersOfThePool) {
  operator_.state.routers = {{.session = SessionId{"router-1"},
                              .peer = "10.0.0.1:7380",
                              .leader = true,
                              .view = Epoch{9},
                              .heard = milliseconds{0}},
                             {.session = SessionId{"router-2"},
                              .peer = "10.0.0.2:7380",
                              .leader = false,
                              .view = Epoch{},
                              .heard = std::nullopt}};
  const json routers = get("/status")["routers"];
  ASSERT_EQ(routers.size(), 2U);
  EXPECT_EQ(routers[0]["leader"], true);
  EXPECT_EQ(routers[0]["view"], 9);
  EXPECT_EQ(routers[1]["peer"], "10.0.0.2:7380");
  EXPECT_TRUE(routers[1]["view"].is_null());
  EXPECT_TRUE(routers[1]["heard_ms"].is_null());
}

TEST_F(ApiTest, RingCoversAllTokensInHexadecimal) {
  const json entries = get("/ring")["entries"];
  EXPECT_EQ(entries.front()["first"], "0000000000000000");
  EXPECT_EQ(entries.back()["last"], "ffffffffffffffff");
  for (const json& entry : entries) {
    EXPECT_TRUE(entry["node"] == "a" || entry["node"] == "b");
    EXPECT_TRUE(entry["move"].is_null());
  }
}

TEST_F(ApiTest, LocateFollowsHashTags) {
  const json one = get("/locate?key={user7}:a");
  const json two = get("/locate?key={user7}:b");
  EXPECT_EQ(one["key"], "{user7}:a");
  EXPECT_EQ(one["token"], two["token"]);
  EXPECT_EQ(one["node"], two["node"]);
  EXPECT_EQ(one["address"], one["node"] == "a" ? "127.0.0.1:7001" : "127.0.0.1:7002");
}

TEST_F(ApiTest, MovesShowRunningAndEnded) {
  ring::Move move;
  move.id = MoveId{7};
  move.ranges = {{.first = Token{1}, .last = Token{2}}};
  move.source = NodeId{1};
  move.destination = NodeId{2};
  operator_.state.moves = {{.move = move, .step = "scan", .waits_for = "", .keys_copied = 9}};
  control::MoveRecord record;
  record.move = move;
  record.why = "frozen";
  operator_.state.ended = {record};
  const json moves = get("/moves");
  EXPECT_EQ(moves["moves"][0]["id"], 7);
  EXPECT_EQ(moves["moves"][0]["source"], "a");
  EXPECT_EQ(moves["moves"][0]["destination"], "b");
  EXPECT_EQ(moves["moves"][0]["phase"], "copying");
  EXPECT_EQ(moves["moves"][0]["keys_copied"], 9);
  EXPECT_EQ(moves["moves"][0]["ranges"][0]["last"], "0000000000000002");
  EXPECT_EQ(moves["ended"][0]["end"], "aborted");
  EXPECT_EQ(moves["ended"][0]["why"], "frozen");
}

TEST_F(ApiTest, DecisionsCarryReasons) {
  control::DecisionRecord made;
  made.at = UnixMillis{3};
  made.kind = "move";
  made.reason = "hot";
  operator_.state.decisions = {made};
  const json decision = get("/decisions")["decisions"][0];
  EXPECT_EQ(decision["at_ms"], 3);
  EXPECT_EQ(decision["kind"], "move");
  EXPECT_EQ(decision["reason"], "hot");
}

TEST_F(ApiTest, HeatOfNowShowsNodesRangesAndKeys) {
  EXPECT_EQ(get("/heat"), json::parse(R"({"observed_ms":0})"));
  heat::Picture picture;
  picture.observed = seconds{2};
  picture.nodes = {{.node = NodeId{1}, .load = {.mean = 500}, .requests = 20, .writes = 5}};
  picture.ranges = {
      {.range = {.first = Token{1}, .last = Token{2}},
       .node = NodeId{1},
       .load = {.mean = 500},
       .requests = 20,
       .writes = 5},
      {.range = {.first = Token{3}, .last = Token{4}}, .node = NodeId{2}, .load = {}}};
  picture.keys = {{.key = "hot", .token = Token{1}, .node = NodeId{1}, .load = 400, .error = 1}};
  operator_.state.heat = std::make_shared<const heat::Picture>(picture);
  const json heat = get("/heat");
  EXPECT_EQ(heat["observed_ms"], 2000);
  EXPECT_EQ(heat["nodes"][0]["node"], "a");
  EXPECT_EQ(heat["nodes"][0]["load_ns"]["mean"], 500);
  ASSERT_EQ(heat["ranges"].size(), 1U) << "cold ranges are left out";
  EXPECT_EQ(heat["ranges"][0]["last"], "0000000000000002");
  EXPECT_EQ(heat["keys"][0]["key"], "hot");
  EXPECT_EQ(get("/status")["nodes"][0]["requests_per_s"], 20);
}

TEST_F(ApiTest, PlanShowsStepsAndRefusals) {
  EXPECT_TRUE(get("/plan")["moves"].empty());
  balance::Plan plan;
  plan.moves = {{.ranges = {{.first = Token{1}, .last = Token{2}}},
                 .source = NodeId{1},
                 .destination = NodeId{2},
                 .reason = "a is at 2.0 of its fair load"}};
  plan.verdicts = {{.why = balance::Why::kUnsplittable, .token = Token{9}, .text = "one key"}};
  plan.peak_ppm = 2'000'000;
  operator_.state.plan = std::make_shared<const balance::Plan>(plan);
  const json shown = get("/plan");
  EXPECT_EQ(shown["peak_ppm"], 2'000'000);
  EXPECT_EQ(shown["moves"][0]["source"], "a");
  EXPECT_EQ(shown["moves"][0]["destination"], "b");
  EXPECT_EQ(shown["moves"][0]["reason"], "a is at 2.0 of its fair load");
  EXPECT_EQ(shown["verdicts"][0]["token"], "0000000000000009");
  EXPECT_EQ(shown["verdicts"][0]["why"], "unsplittable");
  EXPECT_EQ(shown["verdicts"][0]["remedy"], balance::reason_of(balance::Why::kUnsplittable).remedy);
}

TEST_F(ApiTest, SurveyShowsWhatIsOnTheServers) { EXPECT_EQ(get("/adopt")["nodes"][0]["keys"], 5); }

TEST_F(ApiTest, OrdersReachTheOperator) {
  EXPECT_EQ(order(200, "POST", "/freeze"), "freeze");
  EXPECT_EQ(order(200, "POST", "/resume"), "resume");
  EXPECT_EQ(order(200, "POST", "/mode", R"({"mode":"observe"})"), "mode observe");
  EXPECT_EQ(order(200, "POST", "/freeze", R"({"abort":true})"), "abort all, freeze");
  EXPECT_EQ(order(200, "POST", "/approve", R"({"plan":"0a"})"), "approve 0a");
  EXPECT_EQ(order(200, "POST", "/plan/approve", R"({"plan":"0a"})"), "approve 0a");
  EXPECT_EQ(order(400, "POST", "/approve"), "") << "nobody approves what he has not seen";
  EXPECT_EQ(order(200, "POST", "/moves/abort"), "abort all");
  EXPECT_EQ(order(200, "POST", "/nodes/b/undrain"), "undrain 2");
  EXPECT_EQ(order(200, "POST", "/nodes/b/weight", R"({"weight":3})"), "weight 2 3");
  EXPECT_EQ(order(400, "POST", "/nodes/b/weight"), "");
  EXPECT_EQ(order(400, "POST", "/nodes/b/weight", R"({"weight":0})"), "");
  EXPECT_EQ(order(200, "POST", "/flatten"), "flatten");
  EXPECT_EQ(order(200, "POST", "/moves/5/abort"), "abort 5");
  EXPECT_EQ(order(202, "POST", "/moves/5/take-back"), "take back 5");
  EXPECT_EQ(order(200, "POST", "/moves/5/clean"), "give up 5");
  EXPECT_EQ(order(200, "POST", "/moves/5/clean", R"({"last_copies":true})"), "give up all of 5");
  EXPECT_EQ(order(200, "POST", "/moves/5/forget"), "forget leftover 5");
  EXPECT_EQ(order(200, "POST", "/downgrade"), "downgrade");
  EXPECT_EQ(order(200, "POST", "/cuts", R"({"at":"0a"})"),
            "cut at 000000000000000a: ordered by a person");
  EXPECT_EQ(order(200, "POST", "/merges", R"({"range":{"first":"1","last":"2"}})"),
            "merge 0000000000000001-0000000000000002");
  EXPECT_EQ(order(200, "POST", "/nodes", R"({"name":"c","members":["127.0.0.1:7003"],"weight":2})"),
            "add c 127.0.0.1:7003 x2");
  EXPECT_EQ(
      order(200, "POST", "/nodes", R"({"name":"c","hash_key":"h:1","members":["127.0.0.1:7003"]})"),
      "add c as h:1 127.0.0.1:7003 x1");
  EXPECT_EQ(order(200, "POST", "/nodes/b/drain"), "drain 2");
  EXPECT_EQ(order(200, "DELETE", "/nodes/a"), "remove 1");
  EXPECT_EQ(order(200, "POST", "/adopt"), "adopt 1 2");
  EXPECT_EQ(order(200, "POST", "/adopt", R"({"nodes":["b"]})"), "adopt 2");
  EXPECT_EQ(order(200, "POST", "/adopt", R"({"force":true})"), "adopt by force 1 2");
}

TEST_F(ApiTest, AMoveThatNeverBeganIsNoAbortedOne) {
  control::MoveRecord record;
  record.end = control::MoveEnd::kRefused;
  record.why = "OOM";
  operator_.state.ended = {record};
  const json move = get("/moves")["ended"][0];
  EXPECT_EQ(move["end"], "refused");
  EXPECT_EQ(move["id"], 0);
  EXPECT_EQ(move["why"], "OOM");
}

TEST_F(ApiTest, AnotherPlanThanTheOneApprovedIsShown) {
  operator_.state.plan_id = "0b";
  operator_.answer = fail(Code::kConflict, "the plan is another one now, 0b");
  const net::HttpResponse response = ask("POST", "/approve", R"({"plan":"0a"})");
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(json::parse(response.body)["plan"]["id"], "0b");
  EXPECT_EQ(get("/plan")["id"], "0b");
}

TEST_F(ApiTest, MoveOfAKeyFindsItsSource) {
  const ring::RingView& view = *operator_.state.view;
  const Token token = view.token_of("hot");
  const std::string source = std::to_string(view.owner(token).value());
  EXPECT_EQ(order(202, "POST", "/moves", R"({"key":"hot","to":"b","reason":"test"})"),
            "move " + ring::to_hex(token) + "-" + ring::to_hex(token) + " from " + source +
                " to 2: test");
}

TEST_F(ApiTest, MoveOfRangesOfTwoNodesIsRefused) {
  const std::string all = R"({"ranges":[{"first":"0","last":"ffffffffffffffff"}],"to":"b"})";
  EXPECT_EQ(order(400, "POST", "/moves", all), "");
}

TEST_F(ApiTest, BadInputNamesTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({)", "the body must be one JSON object"},
      {R"([])", "the body must be one JSON object"},
      {R"({"key":"k"})", "field 'to' is missing"},
      {R"({"to":"b"})", "want either 'ranges' or 'key'"},
      {R"({"key":7,"to":"b"})", "field 'key': want a text"},
      {R"({"key":"k","to":"z"})", "no node is named 'z'; there are a, b"},
      {R"({"key":"k","to":"b","fast":true})", "field 'fast' is unknown"},
      {R"({"ranges":[],"to":"b"})", "field 'ranges': want a list"},
      {R"({"ranges":[{"first":"2","last":"1"}],"to":"b"})", "'first' is after 'last'"},
      {R"({"ranges":[{"first":1,"last":2}],"to":"b"})", "want a token as a text"},
      {R"({"ranges":[{"first":"xyz","last":"1"}],"to":"b"})", "field 'first': "},
  };
  for (const auto& [body, message] : cases) {
    const net::HttpResponse response = ask("POST", "/moves", body);
    EXPECT_TRUE(response.status == 400 || response.status == 404) << body;
    EXPECT_NE(response.body.find(message), std::string::npos) << body << " -> " << response.body;
  }
  EXPECT_TRUE(operator_.orders.empty());
  EXPECT_EQ(ask("POST", "/mode", R"({"mode":"fast"})").status, 400);
  EXPECT_EQ(ask("POST", "/nodes", R"({"name":"c","members":[]})").status, 400);
  EXPECT_EQ(ask("POST", "/nodes", R"({"name":"c","members":["nowhere"]})").status, 400);
  EXPECT_EQ(ask("POST", "/nodes", R"({"name":"c","members":["h:1"],"weight":0})").status, 400);
  EXPECT_EQ(ask("POST", "/moves/x/abort").status, 400);
  EXPECT_EQ(ask("POST", "/nodes/z/drain").status, 404);
  EXPECT_EQ(ask("GET", "/locate").status, 400);
  EXPECT_TRUE(operator_.orders.empty());
}

TEST_F(ApiTest, UnknownPathsAndMethodsAreNotFound) {
  for (const char* target : {"/", "/nothing", "/status/more", "/moves/5", "/moves/5/pause"}) {
    EXPECT_EQ(ask("GET", target).status, 404) << target;
    EXPECT_EQ(ask("POST", target).status, 404) << target;
  }
  EXPECT_EQ(ask("PUT", "/status").status, 404);
  EXPECT_EQ(ask("DELETE", "/nodes").status, 404);
}

TEST_F(ApiTest, EveryErrorCodeHasItsStatus) {
  const std::vector<std::pair<Code, int>> cases = {
      {Code::kInvalid, 400},   {Code::kNotFound, 404},    {Code::kConflict, 409},
      {Code::kExhausted, 429}, {Code::kUnavailable, 503}, {Code::kTimeout, 504}};
  for (const auto& [code, status] : cases) {
    operator_.answer = fail(code, "because");
    const net::HttpResponse response = ask("POST", "/freeze");
    EXPECT_EQ(response.status, status);
    const json error = json::parse(response.body)["error"];
    EXPECT_EQ(error["code"], code == Code::kTimeout ? "unknown" : to_string(code));
    EXPECT_NE(error["message"].get<std::string>().find("because"), std::string::npos);
  }
}

TEST_F(ApiTest, WithoutAViewEverythingSaysSo) {
  operator_.state.view = nullptr;
  for (const char* target : {"/ready", "/ring", "/moves", "/decisions", "/locate?key=a"}) {
    EXPECT_EQ(ask("GET", target).status, 503) << target;
  }
  EXPECT_EQ(ask("GET", "/status").status, 200);
  EXPECT_EQ(ask("GET", "/metrics").status, 200);
  EXPECT_EQ(ask("POST", "/moves", R"({"key":"k","to":"b"})").status, 503);
}

TEST_F(ApiTest, WithoutAViewTheTroubleOfTheCoordinatorIsTold) {
  operator_.state.view = nullptr;
  operator_.state.coordinator = "written by a newer cleave";
  EXPECT_EQ(json::parse(ask("GET", "/ready").body)["error"]["message"],
            "the ring document was not read yet (written by a newer cleave); ask again");
}

TEST_F(ApiTest, IsNotReadyBeforeClientsAreServed) {
  router_.serves = false;
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  router_.serves = true;
  EXPECT_EQ(ask("GET", "/ready").status, 200);
}

TEST_F(ApiTest, TokenGuardsAllButReady) {
  Api guarded{{.order_taker = operator_,
               .router = router_,
               .door = {.token = "s3cret"},
               .wall_now = [] { return UnixMillis{0}; },
               .history = nullptr}};
  const auto status_of = [&](const std::string& target, const std::string& authorization) {
    const net::HttpRequest request = request_of("GET", target, "", authorization);
    int status = 0;
    guarded.handle(request, [&](const net::HttpResponse& response) { status = response.status; });
    return status;
  };
  EXPECT_EQ(status_of("/ready", ""), 200);
  EXPECT_EQ(status_of("/status", "Bearer s3cret"), 200);
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "s3cret",
                            "bearer s3cret", "Bearer s3cret "}) {
    EXPECT_EQ(status_of("/status", wrong), 401) << wrong;
    EXPECT_EQ(status_of("/nothing", wrong), 401) << wrong;
  }
  EXPECT_EQ(status_of("/heat?from=0", "Bearer s3cret"), 404) << "no history was given";
}

}  // namespace
}  // namespace cleave::admin
