// Requests that are the leader's, while leaders change; orders whose router has lost its session.
#include <gtest/gtest.h>

#include <string>

#include "admin/api.h"
#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

class PassingTest : public testing::Test {
 protected:
  PassingTest() { let_lead(2); }

  // Router 1 is this one; the others are reached at 10.0.0.N:7380.
  void let_lead(int number) {
    ring::Document document = operator_.state.view->document();
    document.routers.clear();
    for (const char* each : {"1", "2", "3"})
      document.routers.push_back({.session = SessionId{std::string("router-") + each},
                                  .peer = std::string("10.0.0.") + each + ":7380"});
    document.leader = {.session = SessionId{"router-" + std::to_string(number)}, .term = Term{4}};
    operator_.state.view = *ring::RingView::build(std::move(document));
    operator_.state.leader = number == 1;
  }
  void ask(const std::string& method, const std::string& path, const std::string& body = "") {
    api_.handle(request_of(method, path, body), [this](net::HttpResponse response) {
      ++answers_;
      answer_ = std::move(response);
    });
  }
  void time_passes() {
    for (const auto& then : std::exchange(timers_, {})) then();
  }
  void reply(std::size_t call, Result<net::HttpReply> reply) { replies_[call](std::move(reply)); }

  RecordingOperator operator_;
  RecordingRouter router_;
  bool connects_ = true;
  std::vector<net::HttpCall> calls_;
  std::vector<std::function<void(Result<net::HttpReply>)>> replies_;
  std::vector<std::function<void()>> timers_;
  net::HttpResponse answer_;
  int answers_ = 0;
  std::shared_ptr<OrderLog> orders_ = std::make_shared<OrderLog>("p");
  Api::Options options_{
      .order_taker = operator_,
      .router = router_,
      .wall_now = [] { return UnixMillis{5'000}; },
      .orders = orders_,
      .ask =
          [this](net::HttpCall call, auto done) {
            if (connects_ && call.sent) call.sent();
            calls_.push_back(std::move(call));
            replies_.push_back(std::move(done));
          },
      .after = [this](milliseconds, auto then) { timers_.push_back(std::move(then)); }};
  Api api_{options_};
};

TEST_F(PassingTest, ALookThatHangsGoesToWhoLeadsMeanwhile) {
  ask("GET", "/plan");
  time_passes();
  EXPECT_EQ(calls_.size(), 1U);
  let_lead(3);
  time_passes();
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_EQ(net::to_string(calls_[1].address), "10.0.0.3:7380");
  reply(0, net::HttpReply{.status = 200, .headers = {}, .body = "late"});
  EXPECT_EQ(answers_, 0);
  reply(1, net::HttpReply{.status = 200, .headers = {}, .body = "of the new leader"});
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(answer_.body, "of the new leader");
  time_passes();
  time_passes();
  EXPECT_EQ(calls_.size(), 2U);
  EXPECT_TRUE(timers_.empty()) << "nobody waits any more";
}

TEST_F(PassingTest, ALookIsAnsweredHereOnceThisRouterLeads) {
  ask("GET", "/moves");
  let_lead(1);
  time_passes();
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(answer_.status, 200);
}

TEST_F(PassingTest, AnOrderThatWasNotSentIsDoneByWhoLeadsMeanwhile) {
  connects_ = false;
  ask("POST", "/flatten");
  let_lead(1);
  time_passes();
  EXPECT_EQ(answer_.status, 200) << answer_.body;
  EXPECT_EQ(operator_.orders, (std::vector<std::string>{"flatten"}));
  reply(0, fail(Code::kTimeout, "no answer"));
  EXPECT_EQ(answers_, 1);
}

TEST_F(PassingTest, AnOrderThatWasSentIsNotSentAgain) {
  ask("POST", "/flatten");
  let_lead(3);
  time_passes();
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(answer_.status, 504);
  EXPECT_NE(answer_.body.find("another router leads now"), std::string::npos) << answer_.body;
  EXPECT_EQ(orders_->records().front().fate, Fate::kUnknown);
}

TEST_F(PassingTest, WhatCanBeDoneHereGoesOnAlsoWhenItWasSent) {
  ask("POST", "/resume");
  let_lead(1);
  time_passes();
  EXPECT_EQ(answer_.status, 200);
  EXPECT_EQ(operator_.orders, (std::vector<std::string>{"resume"}));
}

TEST_F(PassingTest, OnlyWhatIsWorkIsWaitedForLong) {
  for (const char* path : {"/status?leader", "/plan", "/moves", "/decisions", "/heat"}) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = path;
    request.path = request.target.substr(0, request.target.find('?'));
    if (request.path != request.target) request.query["leader"] = "";
    calls_.clear();
    api_.handle(request, [](const net::HttpResponse&) {});
    ASSERT_EQ(calls_.size(), 1U) << path;
    EXPECT_LE(calls_[0].timeout, milliseconds{2'000}) << path;
  }
  for (const char* path : {"/adopt", "/strays"}) {
    calls_.clear();
    ask("GET", path);
    ASSERT_EQ(calls_.size(), 1U) << path;
    EXPECT_GE(calls_[0].timeout, milliseconds{20'000}) << path;
  }
}

TEST_F(PassingTest, TheFateOfAnOrderOutlivesTheSession) {
  let_lead(1);
  ask("POST", "/freeze");
  orders_->begin({.id = "p-waits", .at = UnixMillis{4'000}, .order = "POST /cuts", .from = "x"});
  operator_.state.session = SessionId{"router-1b"};
  Api next(options_);
  net::HttpRequest request;
  request.method = "GET";
  request.target = request.path = "/orders";
  request.query["here"] = "";
  next.handle(request, [this](net::HttpResponse response) { answer_ = std::move(response); });
  const Json told = Json::parse(answer_.body)["orders"];
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["order"], "POST /freeze");
  EXPECT_EQ(told[0]["fate"], "done");
  EXPECT_EQ(told[1]["fate"], "unknown");
  EXPECT_NE(told[1]["why"].get<std::string>().find("lost its session"), std::string::npos);
  EXPECT_NE(orders_->next_id(), told[0]["id"]) << "ids are not given twice";
}

}  // namespace
}  // namespace cleave::admin
