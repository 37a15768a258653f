// What a router without a ring is asked and told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "admin/api_testing.h"
#include "ring/edits/edits.h"

namespace cleave::admin {
namespace {

using nlohmann::json;

// A router that waits for a person, who is remembered.
class RecordingRecovery final : public control::Recovery {
 public:
  void situation(control::Done<control::RingSituation> done) override {
    done(control::RingSituation{.held = "no ring", .has_ring = false, .servers = {server()}});
  }
  void begin_anew(control::Force force, control::Done<void> done) override {
    orders.emplace_back(force == control::Force::kYes ? "anew by force" : "anew");
    done({});
  }
  void restore(control::RestoreOrder order, control::Done<control::RestoreReport> done) override {
    orders.push_back("restore " + order.saved.pool + (order.force ? " force" : "") +
                     (order.rename ? " rename" : "") + (order.dry_run ? " dry" : ""));
    control::RestoreReport report;
    report.saved = order.saved.epoch;
    report.epoch = Epoch{1'000'002};
    report.servers = {server()};
    report.keys = {{.looked = 10, .elsewhere = 2, .lost = 1, .examples = {"k1"}}};
    report.kept = {
        {.move = MoveId{7}, .node = NodeId{2}, .ranges = {{Token{1}, Token{9}}}, .since = {}}};
    report.under = {{.looked = 4, .elsewhere = 4, .lost = 2, .examples = {"k2"}}};
    report.doubts = {"a doubt"};
    done(report);
  }
  void take_over(control::AdoptOrder order, control::Done<void> done) override {
    orders.push_back("take over " + std::to_string(order.nodes.size()) +
                     (order.force == control::Force::kYes ? " by force" : ""));
    done({});
  }

  std::vector<std::string> orders;

 private:
  static control::FoundServer server() {
    control::FoundServer found{.node = "a", .address = "127.0.0.1:7001", .error = ""};
    found.mark = "m";
    found.note = {.pool = "main",
                  .ring = "m",
                  .node = "a",
                  .server = "77ab",
                  .epoch = Epoch{42},
                  .adopted = UnixMillis{1},
                  .written = UnixMillis{2}};
    found.keys = 7;
    return found;
  }
};

class ApiRecovery : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& method, const std::string& path,
                        const std::string& body = "") {
    return answer_to(api_, request_of(method, path, body));
  }

  RecordingOperator operator_;
  RecordingRouter router_;
  RecordingRecovery recovery_;
  Api api_{{.order_taker = operator_,
            .router = router_,
            .wall_now = [] { return UnixMillis{5'000}; },
            .recovery = &recovery_}};
};

TEST_F(ApiRecovery, TellsWhyThereIsNoRingAndWhatTheServersCarry) {
  const json told = json::parse(ask("GET", "/recovery").body);
  EXPECT_EQ(told["held"], "no ring");
  EXPECT_EQ(told["ring"], false);
  EXPECT_EQ(told["servers"][0]["pool"], "main");
  EXPECT_EQ(told["servers"][0]["server"], "77ab");
  EXPECT_EQ(told["servers"][0]["epoch"], 42);
}

TEST_F(ApiRecovery, IsNotReadyAndSaysWhy) {
  operator_.state.view = nullptr;
  operator_.state.held = "the servers belong to a ring";
  for (const char* path : {"/ready", "/ring", "/moves"}) {
    const net::HttpResponse answer = ask("GET", path);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_EQ(json::parse(answer.body)["error"]["message"], "the servers belong to a ring") << path;
  }
}

TEST_F(ApiRecovery, BeginsANewRingOnlyWhereThatIsSaid) {
  operator_.state.view = nullptr;
  EXPECT_EQ(ask("POST", "/adopt").status, 503);
  EXPECT_TRUE(recovery_.orders.empty());
  const net::HttpResponse answer = ask("POST", "/adopt", R"({"new_ring": true})");
  EXPECT_EQ(json::parse(answer.body), (json{{"ok", true}, {"created", true}}));
  ask("POST", "/adopt", R"({"new_ring": true, "force": true})");
  EXPECT_EQ(recovery_.orders, (std::vector<std::string>{"anew", "anew by force"}));
}

TEST_F(ApiRecovery, TakesServersOfAnotherRingOnlyWhereThatIsSaid) {
  ask("POST", "/adopt");
  EXPECT_TRUE(recovery_.orders.empty());
  const net::HttpResponse answer = ask("POST", "/adopt", R"({"new_ring": true})");
  EXPECT_EQ(json::parse(answer.body)["created"], false);
  ask("POST", "/adopt", R"({"new_ring": true, "force": true})");
  EXPECT_EQ(recovery_.orders, (std::vector<std::string>{"take over 2", "take over 2 by force"}));
}

TEST_F(ApiRecovery, OnlyASavedRingMayBeLong) {
  net::HttpRequest head;
  head.method = "POST";
  head.path = "/recovery";
  head.headers = {{"content-type", "application/json"}};
  const std::size_t usual = net::HttpLimits{}.body_bytes_max;
  EXPECT_GT(api_.body_bytes_max(head), ring::kTextBytesMax);
  net::HttpRequest other = head;
  other.path = "/moves";
  EXPECT_EQ(api_.body_bytes_max(other), usual);
  other = head;
  other.headers.emplace_back("origin", "http://elsewhere");
  EXPECT_EQ(api_.body_bytes_max(other), usual) << "it may not come in";
}

// Every key is looked at where copies may lie.
TEST_F(ApiRecovery, OnlyARestorationMayTakeItsTime) {
  net::HttpRequest request;
  request.method = "POST";
  request.path = "/recovery";
  EXPECT_GT(Api::answer_timeout(request), control::RingRestore::kLookMax);
  request.path = "/moves";
  EXPECT_LE(Api::answer_timeout(request), seconds{30});
}

TEST_F(ApiRecovery, GivesASavedRingBack) {
  net::HttpRequest request;
  request.method = "GET";
  request.target = "/ring?document";
  request.path = "/ring";
  request.query = {{"document", ""}};
  std::string text;
  api_.handle(request, [&](net::HttpResponse response) { text = std::move(response.body); });
  EXPECT_EQ(text, ring::to_text(operator_.state.view->document()));
  const net::HttpResponse answer =
      ask("POST", "/recovery", R"({"document": )" + text + R"(, "force": true})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(recovery_.orders, std::vector<std::string>{"restore main force"});
  const json report = json::parse(answer.body);
  EXPECT_EQ(report["epoch"], 1'000'002);
  EXPECT_EQ(report["servers"][0]["looked_at"]["lost"], 1);
  EXPECT_EQ(report["kept"][0]["node"], "b");
  EXPECT_EQ(report["kept"][0]["looked_at"]["lost"], 2);
  EXPECT_EQ(report["doubts"][0], "a doubt");
  for (const char* broken : {"", R"({"document": {}})", R"({"document": "x"})"})
    EXPECT_EQ(ask("POST", "/recovery", broken).status, 400) << broken;
}

}  // namespace
}  // namespace cleave::admin
