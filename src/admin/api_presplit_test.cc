// The orders about expected load, and what is told of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "admin/api_testing.h"
#include "ring/edits/edits.h"

namespace cleave::admin {
namespace {

using nlohmann::json;

class ApiPresplit : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& path,
                        const std::string& body = "") {
    return answer_to(api_, request_of(method, path, body));
  }
  std::string token_of(const std::string& key) {
    return ring::to_hex(operator_.state.view->token_of(key));
  }
  void announce(ring::ExpectedEvent event) {
    operator_.state.view = *ring::RingView::build(
        *ring::expect(operator_.state.view->document(), {std::move(event)}, UnixMillis{1}));
  }

  RecordingOperator operator_;
  RecordingRouter router_;
  Api api_{{.order_taker = operator_,
            .router = router_,
            .wall_now = [] { return UnixMillis{5'000}; },
            .history = nullptr}};
};

// One event with this text in its list of what is expected.
std::string event_with(const std::string& expect) {
  return R"({"events":[{"name":"sale","start_ms":7200000,"end_ms":7300000,"expect":[)" + expect +
         "]}]}";
}

TEST_F(ApiPresplit, KeysTagsAndRangesAreFoundOnTheRing) {
  const net::HttpResponse response =
      ask("POST", "/presplit", event_with(R"({"keys":["k"],"rate":100,"bytes":2000,"command":"GET"},
                        {"tags":["user"],"rate":5},
                        {"ranges":[{"first":"1","last":"ff"}],"load_ns":777})"));
  EXPECT_EQ(response.status, 200) << response.body;
  const std::string k = token_of("k");
  const std::string user = token_of("user:{user}");
  EXPECT_EQ(operator_.orders.front(),
            "announce sale 3600000/7200000/7300000 [" + k + "-" + k + " 100r 2000b get 0ns] [" +
                user + "-" + user +
                " 5r 0b  0ns] [0000000000000001-00000000000000ff 0r 0b  777ns]");
}

TEST_F(ApiPresplit, ARehearsalTellsThePlan) {
  const net::HttpResponse response =
      ask("POST", "/presplit",
          R"({"dry_run":true,"force":true,"events":[{"name":"sale","lead_from_ms":1,"start_ms":2,)"
          R"("end_ms":9000,"expect":[{"keys":["k"],"load_ns":3}]}]})");
  EXPECT_EQ(operator_.orders.front().substr(0, 31), "rehearse by force sale 1/2/9000");
  const json told = json::parse(response.body);
  EXPECT_EQ(told["dry_run"], true);
  EXPECT_EQ(told["at_ms"], 5'000);
  EXPECT_EQ(told["keys"], 3);
  EXPECT_EQ(told["bytes"], 300);
  EXPECT_EQ(told["events"][0]["state"], "on");
  EXPECT_EQ(told["moves"][0]["cause"], "presplit");
  EXPECT_EQ(told["heavy"][0]["key"], "k") << "only the person knows its name";
  EXPECT_EQ(told["moves"][0]["alternatives"][0], (json{{"node", "a"}, {"why", "it lacks memory"}}));
}

TEST_F(ApiPresplit, WhatIsExpectedIsListedWithItsState) {
  EXPECT_EQ(json::parse(ask("GET", "/presplit").body), (json{{"events", json::array()}}));
  announce({.name = "sale",
            .lead_from = UnixMillis{4'000},
            .start = UnixMillis{6'000},
            .end = UnixMillis{9'000},
            .loads = {{{Token{1}, Token{1}}, 5}, {{Token{3}, Token{9}}, 7}}});
  const json event = json::parse(ask("GET", "/presplit").body)["events"][0];
  EXPECT_EQ(event["name"], "sale");
  EXPECT_EQ(event["state"], "preparing");
  EXPECT_EQ(event["ranges"], 2);
  EXPECT_EQ(event["load_ns"], 12);
}

TEST_F(ApiPresplit, AnEventIsForgottenByItsName) {
  EXPECT_EQ(ask("DELETE", "/presplit/sale").status, 404);
  announce({.name = "sale",
            .lead_from = UnixMillis{4'000},
            .start = UnixMillis{6'000},
            .end = UnixMillis{9'000},
            .loads = {{{Token{1}, Token{1}}, 5}}});
  EXPECT_EQ(ask("DELETE", "/presplit/sale").status, 200);
  EXPECT_EQ(operator_.orders, std::vector<std::string>{"forget sale"});
}

TEST_F(ApiPresplit, HalfUnderstoodOrdersAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"events":7})", "field 'events': want a list of objects"},
      {R"({"events":[7]})", "field 'events[0]': want an object"},
      {R"({"events":[],"dry_run":1})", "field 'dry_run': want true or false"},
      {R"({"events":[{"name":"a b"}]})", "field 'events[0]': field 'name': want 1 to 64"},
      {R"({"events":[{"name":"a","start_ms":5}]})", "want 'start_ms' and 'end_ms'"},
      {R"({"events":[{"name":"a","start_ms":5,"end_ms":9}]})", "field 'expect': want a list"},
      {event_with(R"({"rate":1})"), "want 'keys', 'tags' or 'ranges'"},
      {event_with(R"({"keys":["k"]})"), "want either 'rate' (requests a second) or 'load_ns'"},
      {event_with(R"({"keys":["k"],"rate":1,"load_ns":1})"), "want either 'rate'"},
      {event_with(R"({"keys":["k"],"rate":0})"), "field 'rate': want a whole number from 1"},
      {event_with(R"({"tags":["a}b"],"rate":1})"), "'a}b' is no hash tag"},
      {event_with(R"({"prefix":"user:","rate":1})"), "spread over all of it"},
      {event_with(R"({"keys":["k"],"rate":1,"colour":2})"),
       "field 'events[0]': field 'expect[0]': field 'colour' is unknown"},
  };
  for (const auto& [body, message] : cases) {
    const net::HttpResponse response = ask("POST", "/presplit", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_NE(response.body.find(message), std::string::npos) << body << " -> " << response.body;
  }
  EXPECT_TRUE(operator_.orders.empty());
}

TEST_F(ApiPresplit, ACutMayBePinned) {
  EXPECT_EQ(ask("POST", "/cuts", R"({"at":"7f","pinned_until_ms":99})").status, 200);
  EXPECT_EQ(operator_.orders.front(), "cut at 000000000000007f: ordered by a person until 99");
}

}  // namespace
}  // namespace cleave::admin
