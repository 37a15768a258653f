#include <utility>

#include "net/asio_loop.h"
#include "net/http.h"
#include "net/http_parser.h"

namespace cleave::net {
namespace {

constexpr std::size_t kHeaderBytesMax = 65'536;

// Owned by its timer (and, until connected, by the attempt): what ends the timer ends it.
class Exchange final : public StreamEvents, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Loop& loop, HttpCall call, std::function<void(Result<HttpReply>)> done)
      : loop_(loop), call_(std::move(call)), done_(std::move(done)) {}

  void begin();

 private:
  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;

  void on_connected(Result<std::unique_ptr<Stream>> stream);
  std::string serialize() const;
  void conclude(HttpParser::State state);
  void finish(Result<HttpReply> result);
  std::string where() const {
    return call_.method + " http://" + to_string(call_.address) + call_.target;
  }

  Loop& loop_;
  HttpCall call_;
  std::function<void(Result<HttpReply>)> done_;  // nullptr: told
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<HttpParser> parser_;
  std::string input_;
  TimerId timer_;
};

void Exchange::begin() {
  timer_ = loop_.after(call_.timeout, [self = shared_from_this()] {
    self->finish(fail(Code::kTimeout, self->where() + ": no answer within " +
                                          std::to_string(self->call_.timeout.count()) + " ms"));
  });
  loop_.connect(call_.address, call_.timeout,
                [self = shared_from_this()](Result<std::unique_ptr<Stream>> stream) {
                  self->on_connected(std::move(stream));
                });
}

void Exchange::on_connected(Result<std::unique_ptr<Stream>> stream) {
  if (!done_) return;
  if (!stream) return finish(fail(where(), stream.error()));
  stream_ = std::move(*stream);
  parser_ = std::make_unique<HttpParser>(
      call_.method == "HEAD" ? HttpParser::Kind::kResponseToHead : HttpParser::Kind::kResponse,
      HttpParser::Limits{.header_bytes_max = kHeaderBytesMax,
                         .body_bytes_max = call_.response_bytes_max});
  if (call_.sent) call_.sent();
  stream_->send(serialize());
  stream_->start(*this);
}

std::string Exchange::serialize() const {
  std::string text = call_.method + " " + call_.target + " HTTP/1.1\r\n";
  text += "host: " + to_string(call_.address) + "\r\nconnection: close\r\n";
  if (!call_.body.empty() || call_.method == "POST" || call_.method == "PUT")
    text += "content-length: " + std::to_string(call_.body.size()) + "\r\n";
  for (const auto& [name, value] : call_.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + call_.body;
}

void Exchange::on_bytes(std::string_view bytes) {
  input_.append(bytes);
  conclude(parser_->feed(input_));
}

void Exchange::on_closed(const Error& why) {
  const HttpParser::State state = parser_->end();
  if (state == HttpParser::State::kDone) return conclude(state);
  finish(fail(where(), why));
}

void Exchange::conclude(HttpParser::State state) {
  switch (state) {
    case HttpParser::State::kNeedMore: return;
    case HttpParser::State::kFailed:
      return finish(fail(Code::kInvalid, where() + ": bad answer: " + parser_->error()));
    case HttpParser::State::kDone: return finish(parser_->take_reply());
  }
}

void Exchange::finish(Result<HttpReply> result) {
  if (!done_) return;
  const auto self = shared_from_this();
  const auto done = std::exchange(done_, nullptr);
  loop_.cancel(timer_);
  stream_.reset();
  done(std::move(result));
}

}  // namespace

void http_request(Loop& loop, HttpCall call, std::function<void(Result<HttpReply>)> done) {
  std::make_shared<Exchange>(loop, std::move(call), std::move(done))->begin();
}

Result<HttpReply> http_call(HttpCall call) {
  const std::unique_ptr<AsioLoop> loop = make_loop();
  Result<HttpReply> result = fail(Code::kUnavailable, "the loop was stopped");
  http_request(*loop, std::move(call), [&](Result<HttpReply> reply) {
    result = std::move(reply);
    loop->stop();
  });
  loop->run();
  return result;
}

}  // namespace cleave::net
