// Questions over real loopback sockets: what one router asks, the other one hears, and the answer
// comes back whole.
#include "peer/http_peer.h"

#include <gtest/gtest.h>

#include <optional>

#include "net/net_testing.h"
#include "peer/http_directory.h"
#include "peer/http_service.h"

namespace cleave::peer {
namespace {

// Notes what it was asked, and answers when it is told to.
class RecordingPeer final : public RouterPeer {
 public:
  void await_copying(MoveId move, Epoch phase_epoch, Done<void> done) override {
    note("await_copying", move, phase_epoch);
    done(refuse ? Result<void>(std::unexpected(*refuse)) : Result<void>());
  }
  void take(MoveId move, Epoch phase_epoch, const TakeOrder& order,
            Done<DirtyBatch> done) override {
    note("take" + std::to_string(order.number), move, phase_epoch);
    for (const std::string& key : order.watch) asked += "watch " + key + ";";
    done(DirtyBatch{
        .number = order.number, .keys = {std::string("a\0b", 3), ""}, .whole_range = true});
  }
  void await_fenced(MoveId move, Epoch phase_epoch, Done<FencedAck> done) override {
    note("await_fenced", move, phase_epoch);
    waiting = std::move(done);
  }
  void take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) override {
    asked += "take_heat " + std::to_string(prices.at("get")) + ";";
    heat::Report report{.recorder = 5, .sequence = 6, .epoch = Epoch{7}, .covers = seconds{1}};
    report.samples = {{.token = Token{UINT64_MAX}, .weight_ns = 9}};
    done(std::vector{report});
  }
  void count_keys(Done<std::uint64_t> done) override {
    asked += "count;";
    done(12'345);
  }
  void note(const std::string& what, MoveId move, Epoch epoch) {
    asked += what + " " + std::to_string(move.value()) + " " + std::to_string(epoch.value()) + ";";
  }

  std::string asked;
  std::optional<Error> refuse;
  Done<FencedAck> waiting;
};

class HttpPeerTest : public ::testing::Test {
 protected:
  HttpPeerTest() {
    auto http = net::HttpServer::listen(
        *loop_, {"127.0.0.1", 0},
        [this](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
          if (net::find_header(request.headers, "authorization") != "Bearer secret")
            return reply({.status = 401});
          service_.handle(request, reply);
        });
    EXPECT_TRUE(http);
    server_ = std::move(*http);
  }

  HttpPeer peer(const std::string& session = "r1", const std::string& token = "secret") {
    return HttpPeer({*loop_, SessionId{session}, server_->address(), token});
  }

  // Runs the loop until the answer is here.
  template <class T>
  Result<T> answer(const std::function<void(RouterPeer::Done<T>)>& ask) {
    std::optional<Result<T>> result;
    ask([&](Result<T> got) {
      result = std::move(got);
      loop_->stop();
    });
    net::run_bounded(*loop_);
    return result ? std::move(*result) : fail(Code::kTimeout, "no answer in the test's time");
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  RecordingPeer router_;
  HttpService service_{*loop_, SessionId{"r1"}, router_};
  std::unique_ptr<net::HttpServer> server_;
};

TEST_F(HttpPeerTest, CarriesEveryQuestionAndAnswer) {
  HttpPeer other = peer();
  EXPECT_TRUE(answer<void>([&](auto done) { other.await_copying(MoveId{3}, Epoch{4}, done); }));
  const auto batch =
      answer<DirtyBatch>([&](auto done) { other.take(MoveId{3}, Epoch{4}, {2, {"big"}}, done); });
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(batch->keys, (std::vector<std::string>{std::string("a\0b", 3), ""}));
  EXPECT_TRUE(batch->whole_range);
  const auto reports =
      answer<std::vector<heat::Report>>([&](auto done) { other.take_heat({{"get", 9}}, done); });
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ(reports->front().samples.front().token, Token{UINT64_MAX});
  EXPECT_EQ(*answer<std::uint64_t>([&](auto done) { other.count_keys(done); }), 12'345U);
  EXPECT_EQ(router_.asked, "await_copying 3 4;take2 3 4;watch big;take_heat 9;count;");
}

TEST_F(HttpPeerTest, AQuestionThatWaitsIsAnsweredWhenTheRouterIsDone) {
  HttpPeer other = peer();
  loop_->after(milliseconds{50}, [&] {
    ASSERT_TRUE(router_.waiting);
    FencedAck ack;
    ack.last.number = 8;
    ack.incarnations[NodeId{2}] = {{.run_id = "run", .replication_id = "repl"}};
    router_.waiting(std::move(ack));
  });
  const auto ack =
      answer<FencedAck>([&](auto done) { other.await_fenced(MoveId{3}, Epoch{5}, done); });
  ASSERT_TRUE(ack) << ack.error().message;
  EXPECT_EQ(ack->last.number, 8U);
  EXPECT_EQ(ack->incarnations.at(NodeId{2}).front().run_id, "run");
}

TEST_F(HttpPeerTest, ARefusalKeepsItsCodeAndItsReason) {
  router_.refuse = Error{Code::kConflict, "another phase"};
  HttpPeer other = peer();
  const auto refused =
      answer<void>([&](auto done) { other.await_copying(MoveId{3}, Epoch{4}, done); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find("another phase"), std::string::npos);
  EXPECT_NE(refused.error().message.find("router r1 at 127.0.0.1:"), std::string::npos);
}

TEST_F(HttpPeerTest, AnotherLifeOfTheProcessDoesNotAnswer) {
  HttpPeer former = peer("r0");
  const auto refused =
      answer<void>([&](auto done) { former.await_copying(MoveId{3}, Epoch{4}, done); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(router_.asked, "");
}

TEST_F(HttpPeerTest, AWrongTokenIsSaid) {
  HttpPeer stranger = peer("r1", "guess");
  const auto refused =
      answer<void>([&](auto done) { stranger.await_copying(MoveId{3}, Epoch{4}, done); });
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("token"), std::string::npos);
  EXPECT_EQ(router_.asked, "");
}

TEST_F(HttpPeerTest, ARouterThatIsGoneIsUnavailable) {
  HttpPeer other = peer();
  server_.reset();
  const auto gone =
      answer<void>([&](auto done) { other.await_copying(MoveId{3}, Epoch{4}, done); });
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::kUnavailable);
}

TEST_F(HttpPeerTest, UnknownQuestionsAndBrokenOnesAreRefused) {
  struct Case {
    std::string method;
    std::string path;
    std::string body;
    int status;
  };
  const std::string good = write_question({.to = SessionId{"r1"}});
  for (const Case& one :
       {Case{"GET", "/peer/v1/take", good, 404}, Case{"POST", "/peer/v9/take", good, 404},
        Case{"POST", "/peer/v1/dance", good, 404}, Case{"POST", "/peer/v1/take", "{}", 400}}) {
    int status = 0;
    net::HttpRequest request;
    request.method = one.method;
    request.path = one.path;
    request.body = one.body;
    service_.handle(request, [&](const net::HttpResponse& reply) { status = reply.status; });
    EXPECT_EQ(status, one.status) << one.method << one.path;
  }
  EXPECT_EQ(router_.asked, "");
}

TEST_F(HttpPeerTest, TheDirectoryFollowsTheDocument) {
  HttpDirectory directory({*loop_, SessionId{"r0"}, "secret"});
  EXPECT_EQ(directory.find(SessionId{"r0"}), nullptr);
  directory.set_own(router_);
  EXPECT_EQ(directory.find(SessionId{"r0"}), &router_);
  ring::Document document;
  document.routers = {
      {.session = SessionId{"r0"}, .peer = "127.0.0.1:1", .peer_version = 1},
      {.session = SessionId{"r1"}, .peer = net::to_string(server_->address()), .peer_version = 1},
      {.session = SessionId{"r2"}, .peer = "", .peer_version = 1},
      {.session = SessionId{"r3"}, .peer = "127.0.0.1:1", .peer_version = 0}};
  directory.follow(document);
  EXPECT_EQ(directory.find(SessionId{"r0"}), &router_) << "our own is never asked over the network";
  RouterPeer* other = directory.find(SessionId{"r1"});
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(answer<void>([&](auto done) { other->await_copying(MoveId{1}, Epoch{1}, done); }));
  EXPECT_EQ(directory.find(SessionId{"r2"}), nullptr) << "it says no address";
  EXPECT_EQ(directory.find(SessionId{"r3"}), nullptr) << "it answers no question";
  document.routers.erase(document.routers.begin() + 1);
  directory.follow(document);
  EXPECT_EQ(directory.find(SessionId{"r1"}), nullptr);
}

}  // namespace
}  // namespace cleave::peer
