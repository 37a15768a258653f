// The commands' way to a running router: its HTTP interface.
//
// Blocking. Threads: one owner.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/loop.h"

namespace cleave::app {

using Json = nlohmann::ordered_json;

// How long an answer may take.
inline constexpr milliseconds kAnswerPatience{10'000};

// Why there is no answer.
struct CallFailure {
  bool unreachable = false;  // nobody answered; else the router refused
  Error error;
  Json body = {};  // what it said, where it said JSON
};

class AdminClient {
 public:
  AdminClient(net::Address address, std::string token)
      : address_(std::move(address)), token_(std::move(token)) {}

  using Answer = std::expected<Json, CallFailure>;
  Answer get(const std::string& target) const;
  Answer post(const std::string& target, const Json& body = Json::object(),
              milliseconds timeout = kAnswerPatience) const;
  Answer remove(const std::string& target) const;

  const net::Address& address() const { return address_; }

 private:
  Answer call(std::string method, const std::string& target, std::string body,
              milliseconds timeout = kAnswerPatience) const;

  net::Address address_;
  std::string token_;
};

}  // namespace cleave::app
