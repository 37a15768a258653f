#include <utility>

#include "net/asio_loop.h"
#include "net/http.h"
#include "net/http_link.h"

namespace cleave::net {
namespace {

// One request on a link of its own. Owned by its timer (and, until connected, by the attempt): what
// ends the timer ends it.
class Exchange final : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Loop& loop, HttpCall call, std::function<void(Result<HttpReply>)> done)
      : loop_(loop), call_(std::move(call)), done_(std::move(done)) {}

  void begin();

 private:
  void on_connected(Result<std::unique_ptr<Stream>> stream);
  void finish(Result<HttpReply> result);
  std::string where() const {
    return call_.method + " http://" + to_string(call_.address) + call_.target;
  }

  Loop& loop_;
  HttpCall call_;
  std::function<void(Result<HttpReply>)> done_;  // nullptr: told
  std::unique_ptr<HttpLink> link_;
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
  link_ = std::make_unique<HttpLink>(std::move(*stream), to_string(call_.address),
                                     call_.response_bytes_max);
  if (call_.sent) call_.sent();
  HttpAsk ask{.method = call_.method,
              .target = call_.target,
              .headers = std::move(call_.headers),
              .body = std::move(call_.body)};
  ask.headers.emplace_back("connection", "close");
  link_->request(ask, [self = weak_from_this()](Result<HttpReply> reply) {
    const auto exchange = self.lock();
    if (exchange == nullptr) return;
    if (!reply) return exchange->finish(fail(exchange->where(), reply.error()));
    exchange->finish(std::move(reply));
  });
}

void Exchange::finish(Result<HttpReply> result) {
  if (!done_) return;
  const auto self = shared_from_this();
  const auto done = std::exchange(done_, nullptr);
  loop_.cancel(timer_);
  link_.reset();
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
