#include "net/http_link.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace cleave::net {
namespace {

constexpr std::size_t kHeaderBytesMax = 65'536;

std::string serialize(const HttpAsk& ask, const std::string& host) {
  std::string text = ask.method + " " + ask.target + " HTTP/1.1\r\nhost: " + host + "\r\n";
  text += "content-length: " + std::to_string(ask.body.size()) + "\r\n";
  for (const auto& [name, value] : ask.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + ask.body;
}

}  // namespace

HttpLink::HttpLink(std::unique_ptr<Stream> stream, std::string host, std::size_t response_bytes_max)
    : stream_(std::move(stream)), host_(std::move(host)), response_bytes_max_(response_bytes_max) {
  stream_->start(*this);
}

void HttpLink::request(const HttpAsk& ask, Done done) { stream(ask, nullptr, std::move(done)); }

void HttpLink::stream(const HttpAsk& ask, Piece piece, Done done) {
  CHECK(idle());
  constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();
  parser_ = std::make_unique<HttpParser>(
      ask.method == "HEAD" ? HttpParser::Kind::kResponseToHead : HttpParser::Kind::kResponse,
      HttpParser::Limits{.header_bytes_max = kHeaderBytesMax,
                         .body_bytes_max = piece ? kNoBound : response_bytes_max_});
  done_ = std::move(done);
  piece_ = std::move(piece);
  sent_before_ = stream_->sent_total();
  stream_->send(serialize(ask, host_));
}

void HttpLink::on_bytes(std::string_view bytes) {
  if (!done_) return lose(Error{Code::kInvalid, "an answer to no request"});
  input_.append(bytes);
  const HttpParser::State state = parser_->feed(input_);
  if (!pass_pieces()) return;
  if (state == HttpParser::State::kDone) conclude();
  if (state == HttpParser::State::kFailed)
    lose(Error{Code::kInvalid, "bad answer: " + parser_->error()});
}

// False: the link was destroyed by whom it told.
bool HttpLink::pass_pieces() {
  if (!piece_) return true;
  const std::string body = parser_->take_body();
  if (body.empty()) return true;
  const std::weak_ptr<void> alive = alive_;
  const Piece piece = piece_;
  piece(body);
  return !alive.expired();
}

void HttpLink::on_closed(const Error& why) {
  closed_ = true;
  const bool was_done = done_ && parser_->end() == HttpParser::State::kDone;
  if (!was_done) return lose(why);
  if (pass_pieces()) conclude();
}

void HttpLink::conclude() {
  if (!parser_->keep_alive()) {
    closed_ = true;
    stream_->close();
  }
  HttpReply reply = parser_->take_reply();
  piece_ = nullptr;
  const Done done = std::exchange(done_, nullptr);
  done(std::move(reply));
}

void HttpLink::lose(const Error& why) {
  closed_ = true;
  stream_->close();
  piece_ = nullptr;
  if (const Done done = std::exchange(done_, nullptr)) done(std::unexpected(why));
}

}  // namespace cleave::net
