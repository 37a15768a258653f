#include "net/http.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "net/http_parser.h"
#include "net/net_testing.h"

namespace cleave::net {
namespace {

struct Parsed {
  HttpParser::State state;
  std::string what;  // the message or the error
  std::string left;
};

// Feeds the bytes in pieces of random size, or all at once.
Parsed parse(const std::string& bytes, Rng* cut) {
  HttpParser parser(HttpParser::Kind::kRequest, {.header_bytes_max = 200, .body_bytes_max = 100});
  Parsed parsed{HttpParser::State::kNeedMore, "", ""};
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = cut == nullptr ? bytes.size() : 1 + cut->below(30);
    if (parsed.state == HttpParser::State::kNeedMore) {
      parsed.left += bytes.substr(at, piece);
      parsed.state = parser.feed(parsed.left);
    } else {
      parsed.left += bytes.substr(at, piece);
    }
    at += piece;
  }
  if (parsed.state == HttpParser::State::kFailed) {
    parsed.what = std::to_string(parser.error_status());
    parsed.left.clear();  // how much of a bad message was eaten means nothing
  } else if (parsed.state == HttpParser::State::kDone) {
    const HttpRequest request = parser.take_request();
    parsed.what = request.method + " " + request.target + " " + request.body;
    for (const auto& [name, value] : request.headers) parsed.what += name + "=" + value + ";";
  } else {
    parsed.left.clear();
  }
  return parsed;
}

// A request is taken in pieces iff it is taken whole, and then means the same. (Bad bytes before
// the end of a header may be noticed at once or only at its end.)
TEST(HttpParser, PiecesMeanTheSameAsTheWhole) {
  const std::vector<std::string> seeds = {
      "GET /a?b=c HTTP/1.1\r\nhost: x\r\naccept: */*\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "POST /x HTTP/1.1\r\ncontent-length: 11\r\n\r\nhello world",
      "PUT /y HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
      "POST /z HTTP/1.0\r\ncontent-length: 99\r\nx: " + std::string(100, 'y') + "\r\n\r\n",
  };
  std::map<HttpParser::State, int> seen;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string bytes = seeds[rng.below(seeds.size())];
    for (std::uint64_t left = rng.below(4); left > 0; --left) {
      const std::size_t at = rng.below(bytes.size());
      if (rng.chance(1, 2)) {
        bytes[at] = static_cast<char>(rng.below(256));
      } else {
        bytes.erase(at, 1 + rng.below(4));
      }
    }
    const Parsed whole = parse(bytes, nullptr);
    const Parsed pieces = parse(bytes, &rng);
    ++seen[whole.state];
    const bool done = whole.state == HttpParser::State::kDone;
    ASSERT_EQ(done, pieces.state == HttpParser::State::kDone) << bytes;
    if (!done) continue;
    ASSERT_EQ(whole.what, pieces.what) << bytes;
    ASSERT_EQ(whole.left, pieces.left) << bytes;
  }
  EXPECT_GT(seen[HttpParser::State::kDone], 500);
  EXPECT_GT(seen[HttpParser::State::kFailed], 500);
  EXPECT_GT(seen[HttpParser::State::kNeedMore], 100);
}

// A server whose handler answers "METHOD PATH BODY", and raw or real clients to it.
class HttpTest : public ::testing::Test {
 protected:
  void serve(HttpLimits limits = {}) {
    limits.linger = milliseconds{20};
    auto server = HttpServer::listen(
        *loop_, Address{"127.0.0.1", 0},
        [this](const HttpRequest& request, HttpServer::Reply reply) {
          requests_.push_back(request);
          if (handler_) return handler_(request, std::move(reply));
          reply({.content_type = "text/plain",
                 .body = request.method + " " + request.path + " " + request.body});
        },
        limits, kind_of_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }

  // Sends the bytes as they are; returns all that comes back until the server closes or, if told,
  // `enough` is in the answer.
  std::string raw(const std::string& bytes, const std::string& enough = "") {
    Recorder recorder;
    std::unique_ptr<Stream> stream;
    recorder.bytes_hook = [&](std::string_view) {
      if (!enough.empty() && recorder.got.find(enough) != std::string::npos) loop_->stop();
    };
    recorder.closed_hook = [&] { loop_->stop(); };
    loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
      ASSERT_TRUE(connected) << connected.error().message;
      stream = std::move(*connected);
      stream->start(recorder);
      stream->send(bytes);
    });
    run_bounded(*loop_);
    return recorder.got;
  }

  Result<HttpReply> call(HttpCall call) {
    call.address = server_ ? server_->address() : call.address;
    Result<HttpReply> result = fail(Code::kUnavailable, "not told");
    http_request(*loop_, std::move(call), [&](Result<HttpReply> reply) {
      result = std::move(reply);
      loop_->stop();
    });
    run_bounded(*loop_);
    return result;
  }

  std::unique_ptr<AsioLoop> loop_ = make_loop();
  std::vector<HttpRequest> requests_;
  std::function<void(const HttpRequest&, HttpServer::Reply)> handler_;
  HttpServer::KindOf kind_of_;
  std::unique_ptr<HttpServer> server_;
};

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST_F(HttpTest, ServesAGet) {
  serve();
  const auto reply = call({.target = "/heat?from=7", .headers = {{"X-Token", "s3cret"}}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "GET /heat ");
  EXPECT_EQ(find_header(reply->headers, "content-type"), "text/plain");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].query.at("from"), "7");
  EXPECT_EQ(find_header(requests_[0].headers, "x-token"), "s3cret");
  EXPECT_TRUE(requests_[0].peer.starts_with("127.0.0.1:"));
}

TEST_F(HttpTest, CarriesBigBodiesBothWays) {
  serve();
  const std::string body(900'000, 'b');
  const auto reply = call({.method = "POST", .target = "/x", .body = body});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "POST /x " + body);
}

TEST_F(HttpTest, RepliesLater) {
  serve();
  handler_ = [&](const HttpRequest&, HttpServer::Reply reply) {
    loop_->after(milliseconds{20}, [reply] { reply({.status = 202, .body = "{}"}); });
  };
  const auto reply = call({});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 202);
}

TEST_F(HttpTest, HeadHasNoBodyAndItsLength) {
  serve();
  const auto reply = call({.method = "HEAD", .target = "/x"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "");
  EXPECT_EQ(find_header(reply->headers, "content-length"), "8");
}

TEST_F(HttpTest, AnswersPipelinedRequestsInOrder) {
  serve();
  std::vector<HttpServer::Reply> waiting;
  handler_ = [&](const HttpRequest& request, HttpServer::Reply reply) {
    EXPECT_EQ(requests_.size(), waiting.size() + 1) << "the next one before the answer";
    waiting.push_back(reply);
    loop_->after(milliseconds{5}, [reply, path = request.path] { reply({.body = path}); });
  };
  const std::string got =
      raw("GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc"
          "GET /3 HTTP/1.1\r\nconnection: close\r\n\r\n");
  EXPECT_EQ(count(got, "HTTP/1.1 200 OK"), 3);
  EXPECT_LT(got.find("\r\n\r\n/1"), got.find("\r\n\r\n/2"));
  EXPECT_LT(got.find("\r\n\r\n/2"), got.find("\r\n\r\n/3"));
  EXPECT_EQ(count(got, "connection: close"), 1);
}

TEST_F(HttpTest, ThousandsOfPipelinedRequestsDoNotNest) {
  serve();
  std::string requests;
  for (int i = 0; i < 20'000; ++i) requests += "GET / HTTP/1.1\r\n\r\n";
  requests += "GET /end HTTP/1.0\r\n\r\n";
  EXPECT_EQ(count(raw(requests), "HTTP/1.1 200 OK"), 20'001);
}

TEST_F(HttpTest, KeepsAliveAndClosesAsAsked) {
  serve();
  EXPECT_EQ(count(raw("GET / HTTP/1.1\r\n\r\n", "GET / "), "connection: close"), 0);
  EXPECT_EQ(count(raw("GET / HTTP/1.0\r\n\r\n"), "connection: close"), 1);
}

TEST_F(HttpTest, TakesABodyInChunks) {
  serve();
  const std::string got =
      raw("POST /c HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
          "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_TRUE(got.ends_with("POST /c abcde")) << got;
}

TEST_F(HttpTest, ToldToContinueTheBodyComes) {
  serve();
  const std::string got =
      raw("POST /e HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n", "100 Continue");
  EXPECT_EQ(got, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(HttpTest, MalformedInputIsA400AndTheEnd) {
  serve();
  const std::vector<std::string> cases = {
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "\x16\x03\x01\x02garbage of a TLS client\r\n\r\n",
      "*1\r\n$4\r\nPING\r\n",
      "GET / HTTP/1.1\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\na : b\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "GET /%zz HTTP/1.1\r\n\r\n",
      "GET http://elsewhere/ HTTP/1.1\r\n\r\n",
  };
  for (const std::string& bytes : cases) {
    const std::string got = raw(bytes + std::string(5'000, 'x'));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 400 Bad Request\r\n")) << bytes << "\n" << got;
    EXPECT_EQ(count(got, "HTTP/1.1"), 1) << bytes;
  }
  EXPECT_TRUE(requests_.empty());
  EXPECT_TRUE(call({})) << "the server goes on";
}

TEST_F(HttpTest, TooLongIsA413OrA431) {
  serve({.header_bytes_max = 1'000, .body_bytes_max = 5'000});
  EXPECT_TRUE(raw("POST / HTTP/1.1\r\ncontent-length: 5001\r\n\r\n").starts_with("HTTP/1.1 413 "));
  const std::string chunk = "fff\r\n" + std::string(0xfff, 'x') + "\r\n";
  EXPECT_TRUE(raw("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + chunk + chunk)
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(raw("GET / HTTP/1.1\r\na: " + std::string(2'000, 'x')).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(requests_.empty());
  const auto fits = call({.method = "POST", .body = std::string(5'000, 'x')});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->status, 200);
}

// Only who may come in, and only where that much has a use, is given the memory for it.
TEST_F(HttpTest, ARequestMayHaveABoundOfItsOwn) {
  serve({.body_bytes_max = 10, .body_bytes_max_of = [](const HttpRequest& head) {
           EXPECT_TRUE(head.body.empty());
           const bool may = head.path == "/large" && find_header(head.headers, "key") == "k";
           return std::size_t{may ? 5'000U : 100U};
         }});
  const std::string long_body(5'000, 'x');
  const auto fits = call(
      {.method = "POST", .target = "/large?a=1", .headers = {{"key", "k"}}, .body = long_body});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->status, 200);
  EXPECT_EQ(requests_.back().body, long_body);
  requests_.clear();
  const std::string length = "content-length: 101\r\n\r\n";
  EXPECT_TRUE(raw("POST /large HTTP/1.1\r\n" + length).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(raw("POST /other HTTP/1.1\r\nkey: k\r\n" + length).starts_with("HTTP/1.1 413 "));
  const std::string chunk = "fff\r\n" + std::string(0xfff, 'x') + "\r\n";
  const std::string head = "POST /large HTTP/1.1\r\nkey: k\r\ntransfer-encoding: chunked\r\n\r\n";
  EXPECT_TRUE(raw(head + chunk + chunk).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(call({})->status, 200) << "without a body";
}

TEST_F(HttpTest, ASlowSenderInTimeIsServedByteByByte) {
  serve();
  const std::string bytes = "POST /slow HTTP/1.0\r\ncontent-length: 2\r\n\r\nok";
  Recorder recorder;
  recorder.closed_hook = [&] { loop_->stop(); };
  std::unique_ptr<Stream> stream;
  std::size_t sent = 0;
  std::function<void()> next = [&] {
    if (sent == bytes.size()) return;
    stream->send(bytes.substr(sent++, 1));
    loop_->after(microseconds{300}, next);
  };
  loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
    stream = std::move(*connected);
    stream->start(recorder);
    next();
  });
  run_bounded(*loop_);
  EXPECT_TRUE(recorder.got.ends_with("POST /slow ok")) << recorder.got;
}

TEST_F(HttpTest, TooSlowIsA408AndIdleIsClosed) {
  serve({.request_timeout = milliseconds{40}, .idle_timeout = milliseconds{60}});
  EXPECT_TRUE(raw("GET / HT").starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(raw(""), "");
  const std::string served = raw("GET / HTTP/1.1\r\n\r\n");  // then idle
  EXPECT_EQ(count(served, "HTTP/1.1 200"), 1);
  EXPECT_EQ(count(served, "HTTP/1.1 408"), 0);
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(HttpTest, ANewConnectionTakesThePlaceOfTheOneIdleLongest) {
  serve({.connections_max = 1});
  Recorder recorder;
  std::unique_ptr<Stream> first;
  loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
    first = std::move(*connected);
    first->start(recorder);
    first->send("GET / HTTP/1.1\r\n\r\n");
  });
  recorder.bytes_hook = [&](std::string_view) { loop_->stop(); };
  run_bounded(*loop_);
  bool closed = false;
  recorder.closed_hook = [&] { closed = true; };
  EXPECT_TRUE(call({})) << "the idle one made room";
  loop_->after(milliseconds{10}, [&] { loop_->stop(); });
  run_bounded(*loop_);
  EXPECT_TRUE(closed);
}

TEST_F(HttpTest, WhereAllAreBusyANewConnectionGetsA503) {
  serve({.connections_max = 1});
  std::vector<HttpServer::Reply> open;
  handler_ = [&](const HttpRequest&, const HttpServer::Reply& reply) {
    open.push_back(reply);
    loop_->stop();
  };
  Recorder recorder;
  std::unique_ptr<Stream> first;
  loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
    first = std::move(*connected);
    first->start(recorder);
    first->send("GET / HTTP/1.1\r\n\r\n");
  });
  run_bounded(*loop_);
  ASSERT_EQ(open.size(), 1U);
  EXPECT_TRUE(raw("").starts_with("HTTP/1.1 503 "));
}

TEST_F(HttpTest, RequestsOfOneKindDoNotKeepOutTheOthers) {
  kind_of_ = [](const HttpRequest& request) { return request.path == "/slow" ? 0 : 1; };
  serve({.requests_max = 1});
  std::vector<HttpServer::Reply> open;
  handler_ = [&](const HttpRequest& request, const HttpServer::Reply& reply) {
    if (request.path != "/slow") return reply({.body = "quick"});
    open.push_back(reply);
    loop_->stop();
  };
  Recorder recorder;
  std::unique_ptr<Stream> first;
  loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
    first = std::move(*connected);
    first->start(recorder);
    first->send("GET /slow HTTP/1.1\r\n\r\n");
  });
  run_bounded(*loop_);
  EXPECT_TRUE(raw("GET /slow HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(call({.target = "/quick"})->body, "quick");
  ASSERT_EQ(open.size(), 1U);
  open.front()({.body = "at last"});
  handler_ = [](const HttpRequest&, const HttpServer::Reply& reply) { reply({.body = "again"}); };
  EXPECT_EQ(call({.target = "/slow"})->body, "again");
}

TEST_F(HttpTest, AnAnswerThatDoesNotComeFreesItsConnection) {
  serve({.answer_timeout = milliseconds{50}, .linger = milliseconds{10}});
  std::vector<HttpServer::Reply> open;
  handler_ = [&](const HttpRequest&, const HttpServer::Reply& reply) { open.push_back(reply); };
  EXPECT_TRUE(raw("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 504 "));
  ASSERT_EQ(open.size(), 1U);
  open.front()({.body = "too late"});
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(HttpTest, AClientThatTakesNothingIsPushedBack) {
  serve();
  const std::string body(200'000, 'x');
  handler_ = [&](const HttpRequest&, HttpServer::Reply reply) { reply({.body = body}); };
  Recorder recorder;
  std::unique_ptr<Stream> stream;
  loop_->connect(server_->address(), seconds{5}, [&](Result<std::unique_ptr<Stream>> connected) {
    stream = std::move(*connected);
    stream->pause_reading();
    stream->start(recorder);
    for (int i = 0; i < 1'000; ++i) stream->send("GET / HTTP/1.1\r\n\r\n");
  });
  loop_->after(milliseconds{100}, [&] { loop_->stop(); });
  run_bounded(*loop_);
  EXPECT_LT(requests_.size(), 200U);
  EXPECT_GT(requests_.size(), 0U);
}

TEST_F(HttpTest, LateRepliesGoNowhere) {
  serve();
  std::vector<HttpServer::Reply> waiting;
  handler_ = [&](const HttpRequest&, HttpServer::Reply reply) {
    waiting.push_back(std::move(reply));
    if (waiting.size() == 2) loop_->stop();
  };
  const HttpCall call{.address = server_->address(), .timeout = milliseconds{100}};
  for (int i = 0; i < 2; ++i) http_request(*loop_, call, [](auto) {});
  run_bounded(*loop_);
  server_.reset();
  for (const HttpServer::Reply& reply : waiting) reply({.body = "late"});
  loop_->after(milliseconds{5}, [&] { loop_->stop(); });
  run_bounded(*loop_);
}

TEST_F(HttpTest, AHandlerMayDestroyTheServer) {
  serve();
  handler_ = [&](const HttpRequest&, HttpServer::Reply reply) {
    server_.reset();
    reply({.body = "gone"});
  };
  const auto reply = call({});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::kUnavailable);
}

TEST_F(HttpTest, ClientErrorsSayWhatWasAsked) {
  serve();
  const Address address = server_->address();
  handler_ = [](const HttpRequest&, const HttpServer::Reply&) {};
  const auto late = call({.target = "/never", .timeout = milliseconds{50}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kTimeout);
  EXPECT_NE(late.error().message.find("GET http://" + to_string(address) + "/never"),
            std::string::npos);
  server_.reset();
  const auto refused = call({.address = address});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
}

// Whatever answers, the client ends: with the text, or with an error.
TEST_F(HttpTest, ClientMeetsOddServers) {
  struct Case {
    std::string answer;
    bool good;
    std::string body;
  };
  const std::vector<Case> cases = {
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", true, "until the end"},
      {"HTTP/1.1 204 No Content\r\n\r\n", true, ""},
      {"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", false, ""},
      {"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n", false, ""},
      {"-ERR wrong protocol\r\n", false, ""},
      {"", false, ""},
      {"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + std::string(5'000, 'x'), false, ""},
  };
  for (const Case& one : cases) {
    struct Odd : StreamEvents {
      std::unique_ptr<Stream> stream;
      std::string answer;
      void on_bytes(std::string_view) override {
        stream->send(answer);
        stream->close();
      }
      void on_closed(const Error&) override {}
    } odd;
    odd.answer = one.answer;
    auto listener =
        loop_->listen(Address{"127.0.0.1", 0}, {.choose = [&]() -> Loop& { return *loop_; },
                                                .accepted =
                                                    [&](Loop&, std::unique_ptr<Stream> stream) {
                                                      odd.stream = std::move(stream);
                                                      odd.stream->start(odd);
                                                    }});
    ASSERT_TRUE(listener);
    const auto reply = call({.address = (*listener)->address(), .response_bytes_max = 4'000});
    EXPECT_EQ(reply.has_value(), one.good) << one.answer;
    EXPECT_EQ(reply ? reply->body : "", one.body);
  }
}

TEST(HttpCall, BlocksUntilTheAnswer) {
  const auto refused = http_call({.address = {"127.0.0.1", 1}, .timeout = milliseconds{500}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace cleave::net
