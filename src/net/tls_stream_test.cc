#include "net/tls_stream.h"

#include "net/net_testing.h"
#include "net/tls_testing.h"

namespace cleave::net {
namespace {

class TlsTest : public ::testing::Test {
 protected:
  // A listener whose streams get TLS of `files`; the accepted one is in `server_`.
  Address listen(const TlsFiles& files) {
    auto context = TlsContext::server(files);
    EXPECT_TRUE(context) << context.error().message;
    auto listener = loop_->listen(
        Address{"127.0.0.1", 0},
        Loop::Acceptor{.choose = [this]() -> Loop& { return *loop_; },
                       .accepted =
                           [this, context = *context](Loop&, std::unique_ptr<Stream> made) {
                             server_ = accept_tls(*loop_, std::move(made), context);
                             server_->start(at_server_);
                           }});
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
    return listener_->address();
  }
  Result<std::unique_ptr<Stream>> connect(const Address& address, const std::string& ca,
                                          milliseconds timeout = milliseconds{5'000}) {
    auto context = TlsContext::client({.ca = ca});
    EXPECT_TRUE(context) << context.error().message;
    Result<std::unique_ptr<Stream>> made = fail(Code::kTimeout, "not answered");
    connect_tls(*loop_, address, *context, timeout, [&](Result<std::unique_ptr<Stream>> stream) {
      made = std::move(stream);
      loop_->stop();
    });
    run_bounded(*loop_);
    return made;
  }

  const std::string stem_ = ::testing::TempDir() + "cleave_tls_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::unique_ptr<AsioLoop> loop_ = make_loop();
  std::unique_ptr<Listener> listener_;
  Recorder at_server_;
  Recorder at_client_;
  std::unique_ptr<Stream> server_;
};

TEST_F(TlsTest, CarriesBytesBothWaysAndTellsTheEnd) {
  const TlsFiles files = make_certificate(stem_, "IP:127.0.0.1");
  auto client = connect(listen(files), files.certificate);
  ASSERT_TRUE(client) << client.error().message;
  (*client)->start(at_client_);
  EXPECT_EQ((*client)->sent_total(), 0U) << "a handshake is nothing of the user's";
  // More than sockets hold, so that bytes wait in between and records are cut anywhere.
  std::string big(std::size_t{8} << 20U, 'x');
  for (std::size_t i = 0; i < big.size(); i += 997) big[i] = static_cast<char>(i % 251);
  at_server_.bytes_hook = [&](std::string_view bytes) { server_->send(bytes); };
  at_client_.bytes_hook = [&](std::string_view) {
    if (at_client_.got.size() == big.size()) loop_->stop();
  };
  (*client)->send(big);
  run_bounded(*loop_);
  EXPECT_TRUE(at_client_.got == big);
  EXPECT_GT((*client)->sent_total(), big.size());
  at_server_.closed_hook = [&] { loop_->stop(); };
  client->reset();
  run_bounded(*loop_);
  ASSERT_EQ(at_server_.closed.size(), 1U);
}

TEST_F(TlsTest, RefusesAStrangersCertificateAndAWrongName) {
  const TlsFiles files = make_certificate(stem_, "IP:127.0.0.1");
  const TlsFiles stranger = make_certificate(stem_ + "_stranger", "IP:127.0.0.1");
  const TlsFiles other = make_certificate(stem_ + "_other", "IP:127.0.0.2,DNS:localhost");
  const auto unknown = connect(listen(files), stranger.certificate);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kUnavailable);
  EXPECT_NE(unknown.error().message.find("self-signed"), std::string::npos)
      << unknown.error().message;
  const auto mismatch = connect(listen(other), other.certificate);
  ASSERT_FALSE(mismatch);
  EXPECT_NE(mismatch.error().message.find("mismatch"), std::string::npos)
      << mismatch.error().message;
}

TEST_F(TlsTest, AServerThatSaysNothingIsATimeoutAndAPlainOneAnError) {
  std::unique_ptr<Stream> kept;
  bool talks = false;
  auto listener =
      loop_->listen(Address{"127.0.0.1", 0},
                    Loop::Acceptor{.choose = [this]() -> Loop& { return *loop_; },
                                   .accepted =
                                       [&](Loop&, std::unique_ptr<Stream> stream) {
                                         kept = std::move(stream);
                                         if (talks) kept->send("HTTP/1.1 400 Bad Request\r\n\r\n");
                                       }});
  ASSERT_TRUE(listener);
  const auto silent = connect((*listener)->address(), "", milliseconds{100});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, Code::kTimeout);
  talks = true;
  const auto plain = connect((*listener)->address(), "");
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, Code::kUnavailable);
  EXPECT_NE(plain.error().message.find("TLS handshake failed"), std::string::npos);
}

TEST_F(TlsTest, WhatWasSentBeforeTheHandshakeArrives) {
  const TlsFiles files = make_certificate(stem_, "IP:127.0.0.1");
  auto context = TlsContext::server(files);
  ASSERT_TRUE(context);
  auto listener =
      loop_->listen(Address{"127.0.0.1", 0},
                    Loop::Acceptor{.choose = [this]() -> Loop& { return *loop_; },
                                   .accepted =
                                       [&](Loop&, std::unique_ptr<Stream> made) {
                                         server_ = accept_tls(*loop_, std::move(made), *context);
                                         server_->start(at_server_);
                                         server_->send("early");
                                       }});
  auto client = connect((*listener)->address(), files.certificate);
  ASSERT_TRUE(client) << client.error().message;
  at_client_.bytes_hook = [&](std::string_view) { loop_->stop(); };
  (*client)->start(at_client_);
  run_bounded(*loop_);
  EXPECT_EQ(at_client_.got, "early");
}

TEST_F(TlsTest, MayBeDestroyedInItsEventAndReadsNothingWhilePaused) {
  const TlsFiles files = make_certificate(stem_, "IP:127.0.0.1");
  auto client = connect(listen(files), files.certificate);
  ASSERT_TRUE(client);
  (*client)->start(at_client_);
  (*client)->pause_reading();
  at_server_.bytes_hook = [&](std::string_view bytes) { server_->send(bytes); };
  (*client)->send("ping");
  loop_->after(milliseconds{100}, [&] { loop_->stop(); });
  run_bounded(*loop_);
  EXPECT_EQ(at_client_.got, "");
  at_client_.bytes_hook = [&](std::string_view) {
    client->reset();
    loop_->stop();
  };
  (*client)->resume_reading();
  run_bounded(*loop_);
  EXPECT_EQ(at_client_.got, "ping");
}

TEST(TlsContextTest, NamesTheFileThatIsWrong) {
  const auto missing = TlsContext::client({.ca = "/nowhere/ca.pem"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kInvalid);
  EXPECT_NE(missing.error().message.find("/nowhere/ca.pem"), std::string::npos);
  EXPECT_FALSE(TlsContext::server({}));
}

}  // namespace
}  // namespace cleave::net
