#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "net/http.h"
#include "net/http_parser.h"
#include "net/url.h"

namespace cleave::net {
namespace {

std::string serialize(const HttpResponse& response, bool keep_alive, bool with_body) {
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + reason_phrase(response.status) + "\r\n";
  text += "content-length: " + std::to_string(response.body.size()) + "\r\n";
  if (!response.content_type.empty()) text += "content-type: " + response.content_type + "\r\n";
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  text += keep_alive ? "\r\n" : "connection: close\r\n\r\n";
  if (with_body) text += response.body;
  return text;
}

HttpResponse plain(int status, std::string_view why) {
  return {.status = status, .content_type = "text/plain", .body = std::string(why) + "\n"};
}

}  // namespace

// Connections are shared with the replies they wait for (weakly) and with their own running
// functions, for a handler may destroy the server and everything with it.
class HttpServer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Loop& loop, Handler handler, HttpLimits limits, KindOf kind_of)
      : loop_(loop), handler_(std::move(handler)), limits_(limits), kind_of_(std::move(kind_of)) {}

  Result<void> listen(const Address& address);
  void stop();

  class Connection;
  void accepted(std::unique_ptr<Stream> stream);
  void forget(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }
  bool make_room();

  Loop& loop_;
  const Handler handler_;
  const HttpLimits limits_;
  const KindOf kind_of_;
  std::map<int, std::size_t> busy_;  // requests that are being answered, of each kind
  std::unique_ptr<Listener> listener_;
  std::set<std::shared_ptr<Connection>> connections_;
};

//   kReading --complete--> kHandling --reply--> kReading ...
//      | bad, too long, too slow                   | reply with "close"
//      v                                           v
//   kLingering ------------------------------> kClosed
class HttpServer::Impl::Connection final : public StreamEvents,
                                           public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Impl> server, std::unique_ptr<Stream> stream)
      : server_(std::move(server)), stream_(std::move(stream)) {}

  void start() {
    expect_request();
    stream_->start(*this);
  }
  void close();
  // Since when nothing is to be answered; nullopt: something is.
  std::optional<Instant> idle_since() const {
    if (state_ == State::kHandling || stream_->unsent() > 0) return std::nullopt;
    return idle_since_;
  }

 private:
  enum class State : std::uint8_t { kReading, kHandling, kLingering, kClosed };

  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(const Error&) override { close(); }

  void expect_request();
  void process();
  bool process_one();
  void handle();
  void reply(HttpResponse response, bool keep_alive, bool with_body);
  void answered();
  void refuse(HttpResponse response);
  void linger();
  void set_deadline(milliseconds delay);
  void on_deadline();

  std::shared_ptr<Impl> server_;
  std::unique_ptr<Stream> stream_;
  State state_ = State::kReading;
  std::unique_ptr<HttpParser> parser_;
  std::string input_;
  bool begun_ = false;       // a byte of the request came in
  bool processing_ = false;  // process() is running: a reply need not call it
  std::uint64_t asked_ = 0;  // requests so far: which one a reply is for
  int kind_ = 0;             // of the request that is being answered
  Instant idle_since_{0};
  TimerId deadline_;
};

void HttpServer::Impl::Connection::expect_request() {
  parser_ = std::make_unique<HttpParser>(
      HttpParser::Kind::kRequest,
      HttpParser::Limits{.header_bytes_max = server_->limits_.header_bytes_max,
                         .body_bytes_max = server_->limits_.body_bytes_max,
                         .body_bytes_max_of = server_->limits_.body_bytes_max_of});
  begun_ = false;
  state_ = State::kReading;
  idle_since_ = server_->loop_.now();
  set_deadline(server_->limits_.idle_timeout);
}

void HttpServer::Impl::Connection::on_bytes(std::string_view bytes) {
  if (state_ == State::kLingering) return;
  input_.append(bytes);
  process();
}

void HttpServer::Impl::Connection::on_drained() {
  if (state_ == State::kLingering) set_deadline(server_->limits_.linger);
  process();
}

void HttpServer::Impl::Connection::process() {
  if (processing_) return;
  const auto self = shared_from_this();
  processing_ = true;
  while (process_one()) {
  }
  processing_ = false;
  if (state_ == State::kClosed) return;
  // A client that sends requests and takes no responses is pushed back, not buffered.
  const bool wait = state_ == State::kHandling || stream_->unsent() > 0;
  if (wait && state_ != State::kLingering) {
    stream_->pause_reading();
  } else {
    stream_->resume_reading();
  }
}

// True: look again, there may be another request in the input.
bool HttpServer::Impl::Connection::process_one() {
  if (state_ != State::kReading || input_.empty() || stream_->unsent() > 0) return false;
  if (!std::exchange(begun_, true)) set_deadline(server_->limits_.request_timeout);
  switch (parser_->feed(input_)) {
    case HttpParser::State::kNeedMore:
      if (parser_->wants_continue()) stream_->send("HTTP/1.1 100 Continue\r\n\r\n");
      return false;
    case HttpParser::State::kFailed:
      refuse(plain(parser_->error_status(), parser_->error()));
      return false;
    case HttpParser::State::kDone: handle(); return true;
  }
  return false;
}

void HttpServer::Impl::Connection::handle() {
  const bool keep_alive = parser_->keep_alive();
  HttpRequest request = parser_->take_request();
  Result<HttpTarget> target = parse_target(request.target);
  if (!target) return refuse(plain(400, target.error().message));
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.peer = stream_->peer();
  const int kind = server_->kind_of_ ? server_->kind_of_(request) : 0;
  if (server_->busy_[kind] >= server_->limits_.requests_max)
    return refuse(plain(503, "too many requests are being answered; ask again"));
  ++server_->busy_[kind];
  kind_ = kind;
  state_ = State::kHandling;
  const HttpLimits& limits = server_->limits_;
  set_deadline(limits.answer_timeout_of ? limits.answer_timeout_of(request)
                                        : limits.answer_timeout);
  const bool with_body = request.method != "HEAD";
  server_->handler_(request, [weak = weak_from_this(), asked = ++asked_, keep_alive,
                              with_body](HttpResponse made) {
    const auto self = weak.lock();
    if (self == nullptr || self->asked_ != asked || self->state_ != State::kHandling) return;
    self->reply(std::move(made), keep_alive, with_body);
  });
}

void HttpServer::Impl::Connection::reply(HttpResponse response, bool keep_alive, bool with_body) {
  answered();
  stream_->send(serialize(response, keep_alive, with_body));
  if (keep_alive) {
    expect_request();
  } else {
    if (stream_->unsent() == 0 && input_.empty()) return close();
    linger();
  }
  process();
}

// Once for each request.
void HttpServer::Impl::Connection::answered() {
  --server_->busy_[kind_];
  state_ = State::kReading;
}

void HttpServer::Impl::Connection::refuse(HttpResponse response) {
  stream_->send(serialize(response, false, true));
  linger();
}

void HttpServer::Impl::Connection::linger() {
  input_.clear();
  state_ = State::kLingering;
  const HttpLimits& limits = server_->limits_;
  set_deadline(stream_->unsent() > 0 ? limits.idle_timeout : limits.linger);
}

void HttpServer::Impl::Connection::set_deadline(milliseconds delay) {
  server_->loop_.cancel(deadline_);
  deadline_ = server_->loop_.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_deadline();
  });
}

void HttpServer::Impl::Connection::on_deadline() {
  if (state_ == State::kReading && begun_ && stream_->unsent() == 0) {
    refuse(plain(408, "the request took too long to arrive"));
  } else if (state_ == State::kHandling) {
    answered();
    refuse(plain(504, "the answer took too long"));
    process();
  } else {
    close();
  }
}

void HttpServer::Impl::Connection::close() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kHandling) answered();
  state_ = State::kClosed;
  server_->loop_.cancel(deadline_);
  stream_->close();
  server_->forget(shared_from_this());
}

Result<void> HttpServer::Impl::listen(const Address& address) {
  auto listener =
      loop_.listen(address, Loop::Acceptor{.choose = [this]() -> Loop& { return loop_; },
                                           .accepted =
                                               [this](Loop&, std::unique_ptr<Stream> stream) {
                                                 accepted(std::move(stream));
                                               }});
  if (!listener) return std::unexpected(listener.error());
  listener_ = std::move(*listener);
  return {};
}

void HttpServer::Impl::accepted(std::unique_ptr<Stream> stream) {
  if (connections_.size() >= limits_.connections_max && !make_room()) {
    stream->send(serialize(plain(503, "too many connections"), false, true));
    return;
  }
  const auto connection = std::make_shared<Connection>(shared_from_this(), std::move(stream));
  connections_.insert(connection);
  connection->start();
}

// Whoever keeps connections open and asks nothing does not keep out the others.
bool HttpServer::Impl::make_room() {
  std::shared_ptr<Connection> oldest;
  for (const std::shared_ptr<Connection>& connection : connections_) {
    const std::optional<Instant> since = connection->idle_since();
    if (since && (oldest == nullptr || *since < *oldest->idle_since())) oldest = connection;
  }
  if (oldest != nullptr) oldest->close();
  return oldest != nullptr;
}

void HttpServer::Impl::stop() {
  listener_.reset();
  // Each close takes itself out of the set.
  while (!connections_.empty()) {
    const std::shared_ptr<Connection> connection = *connections_.begin();
    connection->close();
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, const Address& address,
                                                       Handler handler, HttpLimits limits,
                                                       KindOf kind_of) {
  auto impl = std::make_shared<Impl>(loop, std::move(handler), limits, std::move(kind_of));
  if (Result<void> listening = impl->listen(address); !listening)
    return std::unexpected(listening.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { impl_->stop(); }
Address HttpServer::address() const { return impl_->listener_->address(); }
std::size_t HttpServer::connections() const { return impl_->connections_.size(); }

}  // namespace cleave::net
