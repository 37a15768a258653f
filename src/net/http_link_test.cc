#include "net/http_link.h"

#include "net/net_testing.h"

namespace cleave::net {
namespace {

// A link whose other end is a raw stream that the test plays.
class HttpLinkTest : public ::testing::Test {
 protected:
  HttpLinkTest() {
    StreamPair pair = make_pair_on(*loop_);
    server_ = std::move(pair.server);
    server_->start(at_server_);
    link_ = std::make_unique<HttpLink>(std::move(pair.client), "etcd.example:2379");
    at_server_.bytes_hook = [this](std::string_view) { loop_->stop(); };
  }
  HttpLink::Done keep() {
    return [this](Result<HttpReply> reply) {
      EXPECT_FALSE(reply_.has_value()) << "answered twice";
      reply_ = std::move(reply);
      loop_->stop();
    };
  }
  void answer(std::string_view bytes) {
    server_->send(bytes);
    run_bounded(*loop_);
  }

  std::unique_ptr<AsioLoop> loop_ = make_loop();
  Recorder at_server_;
  std::unique_ptr<Stream> server_;
  std::unique_ptr<HttpLink> link_;
  std::optional<Result<HttpReply>> reply_;
};

TEST_F(HttpLinkTest, OneConnectionServesManyRequests) {
  for (int i = 0; i < 3; ++i) {
    reply_.reset();
    at_server_.got.clear();
    ASSERT_TRUE(link_->idle());
    link_->request({.target = "/v3/kv/range", .headers = {{"x", "y"}}, .body = "{}"}, keep());
    run_bounded(*loop_);
    EXPECT_EQ(at_server_.got,
              "POST /v3/kv/range HTTP/1.1\r\nhost: etcd.example:2379\r\ncontent-length: 2\r\n"
              "x: y\r\n\r\n{}");
    EXPECT_FALSE(link_->idle());
    answer("HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\nno!");
    ASSERT_TRUE(reply_ && *reply_);
    EXPECT_EQ((*reply_)->status, 404);
    EXPECT_EQ((*reply_)->body, "no!");
  }
}

TEST_F(HttpLinkTest, AStreamComesInPiecesDecoded) {
  std::string got;
  link_->stream({}, [&](std::string_view piece) { got += piece; }, keep());
  run_bounded(*loop_);
  server_->send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
  server_->send("6\r\n world\r");
  loop_->after(milliseconds{50}, [&] { loop_->stop(); });
  run_bounded(*loop_);
  EXPECT_EQ(got, "hello world");
  EXPECT_FALSE(reply_.has_value());
  answer("\n0\r\n\r\n");
  ASSERT_TRUE(reply_ && *reply_);
  EXPECT_EQ((*reply_)->body, "");
  EXPECT_TRUE(link_->idle());
}

TEST_F(HttpLinkTest, ALinkMayBeDestroyedInAPiece) {
  link_->stream(
      {}, [&](std::string_view) { link_.reset(); },
      [](const Result<HttpReply>&) { FAIL() << "told after its destruction"; });
  run_bounded(*loop_);
  at_server_.closed_hook = [&] { loop_->stop(); };
  answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(link_, nullptr);
}

TEST_F(HttpLinkTest, SaysWhetherARequestLeft) {
  link_->request({.body = "{}"}, keep());
  EXPECT_FALSE(link_->nothing_sent());
  server_.reset();
  run_bounded(*loop_);
  ASSERT_TRUE(reply_.has_value());
  EXPECT_EQ(reply_->error().code, Code::kUnavailable);
  EXPECT_TRUE(link_->closed());
}

TEST_F(HttpLinkTest, GarbageAndAnUnaskedAnswerCloseIt) {
  link_->request({}, keep());
  run_bounded(*loop_);
  answer("SSH-2.0-OpenSSH\r\n\r\n");
  ASSERT_TRUE(reply_.has_value());
  EXPECT_EQ(reply_->error().code, Code::kInvalid);
  EXPECT_TRUE(link_->closed());
}

}  // namespace
}  // namespace cleave::net
