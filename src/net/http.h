// A small HTTP/1.1 server and client over net::Stream, for the admin and peer API and the CLI.
// Being on Stream they run in the simulator too. Syntax is Boost.Beast's parser (http_parser.cc).
//
// One request at a time on a connection: pipelined ones wait, and their sender is pushed back.
//
// Threads: one loop; handlers, replies and callbacks all run there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/loop.h"

namespace cleave::net {

// In the order of the message. Received names are in lower case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The first one's value; empty: none. `name` in lower case.
std::string_view find_header(const HttpHeaders& headers, std::string_view name);

// As received by the server.
struct HttpRequest {
  std::string method;                        // as sent: "GET"
  std::string target;                        // as sent: "/heat?from=1"
  std::string path;                          // percent-decoded: "/heat"
  std::map<std::string, std::string> query;  // percent-decoded
  HttpHeaders headers;
  std::string body;
  std::string peer;  // "127.0.0.1:50412"
};

// What a handler answers.
struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};  // further ones; length, type and connection are added
};

// Bounds of the server, and what it answers beyond them.
struct HttpLimits {
  std::size_t header_bytes_max = 16'384;               // more: 431
  std::size_t body_bytes_max = std::size_t{1} << 20U;  // more: 413
  // The same of one request, whose body has not been read yet; empty: that of all.
  std::function<std::size_t(const HttpRequest&)> body_bytes_max_of = {};
  // More: the one that has been idle longest is closed; where all are busy the new one, with 503.
  std::size_t connections_max = 256;
  std::size_t requests_max = 64;         // of one kind that are being answered; more: 503
  milliseconds request_timeout{10'000};  // first to last byte of a request; longer: 408
  milliseconds idle_timeout{60'000};     // between requests, or a response not taken: closed
  // The handler has not replied: 504, closed. Nobody may be there any more.
  milliseconds answer_timeout{15'000};
  // The same of one request; empty: that of all.
  std::function<milliseconds(const HttpRequest&)> answer_timeout_of = {};
  // After an error the client's remaining bytes are read and thrown away for so long: closing with
  // unread bytes would reset the connection and could destroy the answer on its way.
  milliseconds linger{1'000};
};

// Destroying it stops listening.
class HttpServer {
 public:
  // To be called once, within the handler or later, as long as the loop lives; if the client or the
  // server is gone by then, or the answer is late, nothing happens.
  using Reply = std::function<void(HttpResponse)>;
  // The request is valid during the call.
  using Handler = std::function<void(const HttpRequest&, Reply)>;

  // What shares one bound of requests: those of one kind cannot keep out the others.
  using KindOf = std::function<int(const HttpRequest&)>;

  // Errors: kUnavailable when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> listen(Loop& loop, const Address& address,
                                                    Handler handler, HttpLimits limits = {},
                                                    KindOf kind_of = {});
  // Closes every connection. Allowed within a handler.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  Address address() const;  // with the real port where 0 was asked for
  std::size_t connections() const;

 private:
  class Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// What the client asks.
struct HttpCall {
  Address address = {};
  std::string method = "GET";
  std::string target = "/";
  HttpHeaders headers = {};
  std::string body = {};
  milliseconds timeout{10'000};  // connecting included
  std::size_t response_bytes_max = std::size_t{64} << 20U;
  std::function<void()> sent = {};  // runs when something of it may have arrived
};

// What it was answered.
struct HttpReply {
  int status = 0;
  HttpHeaders headers;
  std::string body;
};

// One request on a connection of its own; any status is a success. `done` runs once, later, unless
// the loop goes first. Errors: kUnavailable (no connection, or lost), kTimeout, kInvalid (the
// answer is not HTTP or too long).
void http_request(Loop& loop, HttpCall call, std::function<void(Result<HttpReply>)> done);

// The same, blocking, on a loop of its own: for the CLI.
Result<HttpReply> http_call(HttpCall call);

}  // namespace cleave::net
