// Addresses as HTTP writes them: URLs, targets of requests, percent-encoded words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/loop.h"

namespace cleave::net {

// "http://HOST[:PORT][/PATH]" or "https://...".
struct Url {
  bool tls = false;
  Address address = {};  // of the scheme's own port where none is given
  std::string target = "/";

  friend bool operator==(const Url&, const Url&) = default;
};

enum class Port : std::uint8_t { kOptional, kRequired };

// Errors: kInvalid, with the reason alone: the caller names what the text is for.
Result<Url> parse_url(std::string_view text, Port port = Port::kOptional);

// "/a%20b?x=1" into path and query, decoded. Errors: kInvalid, also for a parameter that is there
// twice.
struct HttpTarget {
  std::string path;
  std::map<std::string, std::string> query;
};
Result<HttpTarget> parse_target(std::string_view target);

// "a b/c" -> "a%20b%2Fc": for a part of a path or a value of a query.
std::string encode_component(std::string_view text);

}  // namespace cleave::net
