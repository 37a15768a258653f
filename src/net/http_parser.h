// HttpParser: one incoming HTTP/1.1 message, fed in pieces. Private to net; hides Beast.
//
// Threads: one owner.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/http.h"
#include "net/url.h"

namespace cleave::net {

// The standard words for a status: "Not Found".
std::string reason_phrase(int status);

class HttpParser {
 public:
  enum class Kind : std::uint8_t { kRequest, kResponse, kResponseToHead };
  enum class State : std::uint8_t { kNeedMore, kDone, kFailed };
  struct Limits {
    std::size_t header_bytes_max;
    std::size_t body_bytes_max;
    // Of a request that has this header; empty: `body_bytes_max`. Runs once, before the body.
    std::function<std::size_t(const HttpRequest&)> body_bytes_max_of = {};
  };

  HttpParser(Kind kind, Limits limits);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Eats from the front of `input` what belongs to the message; what it cannot use yet stays there
  // and is to be fed again with more behind it.
  State feed(std::string& input);
  // The stream has ended: right for a response without a length.
  State end();

  // True once after the header, when the sender waits for "100 Continue" before its body.
  bool wants_continue();

  // A response whose header is complete: its status, else 0.
  int status() const;
  // A response that is a stream: the part of the body, decoded, that came in since the last call.
  std::string take_body();

  // kDone: the message. `peer` is left empty; the target is not parsed yet.
  HttpRequest take_request();
  HttpReply take_reply();
  bool keep_alive() const;

  // kFailed: 400, 413 or 431, and why.
  int error_status() const;
  const std::string& error() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::net
