// HttpLink: the client's side of one HTTP/1.1 connection that is kept: one request after another,
// and answers that may be endless streams (etcd's watch). For single requests: http_request of
// net/http.h.
//
// It tells what a caller must know before it repeats a request that has an effect: whether any byte
// of it left.
//
// Threads: one loop. Callbacks run there, never within the call; the link may be destroyed in them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/http.h"
#include "net/http_parser.h"
#include "net/loop.h"

namespace cleave::net {

// What is sent; length and host are added.
struct HttpAsk {
  std::string method = "POST";
  std::string target = "/";
  HttpHeaders headers = {};
  std::string body = {};
};

class HttpLink final : private StreamEvents {
 public:
  using Done = std::function<void(Result<HttpReply>)>;
  using Piece = std::function<void(std::string_view)>;

  // `host` is the header of every request. An answer of more than `response_bytes_max` bytes is
  // kInvalid; a stream has no such bound, for its pieces are not kept.
  HttpLink(std::unique_ptr<Stream> stream, std::string host,
           std::size_t response_bytes_max = std::size_t{64} << 20U);
  ~HttpLink() override = default;
  HttpLink(const HttpLink&) = delete;
  HttpLink& operator=(const HttpLink&) = delete;

  // Requires: idle(). Any status is a success. Errors: kUnavailable (the connection is lost),
  // kInvalid (the answer is not HTTP or too long); the link is closed then. There is no timeout:
  // whoever is tired of waiting destroys the link.
  void request(const HttpAsk& ask, Done done);
  // The same, but the body of the answer goes to `piece` as it arrives; the reply's body is empty.
  void stream(const HttpAsk& ask, Piece piece, Done done);

  bool closed() const { return closed_; }
  bool idle() const { return !closed_ && done_ == nullptr; }
  // Nothing of the latest request was handed to the kernel: it had no effect.
  bool nothing_sent() const { return stream_->sent_total() == sent_before_; }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;
  bool pass_pieces();
  void conclude();
  void lose(const Error& why);

  std::unique_ptr<Stream> stream_;
  const std::string host_;
  const std::size_t response_bytes_max_;
  std::unique_ptr<HttpParser> parser_;
  std::string input_;
  Done done_;
  Piece piece_;
  std::uint64_t sent_before_ = 0;
  bool closed_ = false;
  std::shared_ptr<void> alive_ = std::make_shared<int>();  // callbacks may destroy the link
};

}  // namespace cleave::net
