// What routers tell each other about an order that one passes on to another.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>

#include "net/http.h"

namespace cleave::admin {

// The session that passed the request on: it is not passed on again, for during a change of leaders
// two could take each other for it.
inline constexpr const char* kPassedBy = "cleave-passed-by";
// The order's id, given by whoever took it first.
inline constexpr const char* kOrderId = "cleave-order";
// Who asked the one that passed it on.
inline constexpr const char* kAskedBy = "cleave-asked-by";

// No order. HEAD is answered as GET; the server leaves the body out.
inline bool looks(const net::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

// Errors: nullopt where it is no order that was passed on.
inline std::optional<std::string> id_of(const net::HttpRequest& request) {
  constexpr std::size_t kLengthMax = 64;
  const std::string_view id = net::find_header(request.headers, kOrderId);
  if (net::find_header(request.headers, kPassedBy).empty() || id.empty()) return std::nullopt;
  return std::string(id.substr(0, kLengthMax));
}

}  // namespace cleave::admin
