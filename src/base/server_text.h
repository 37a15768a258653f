// Addresses of servers as texts: one server under two of them, as far as texts can tell. Others are
// told by the server's own run id.
//
// Pure; nothing is resolved. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"

namespace cleave {

// "host:port" in the form by which members of a pool are compared, in the file, in an import and
// when a node joins: in lower case, with 127.0.0.1 for localhost.
inline std::string comparable_address(std::string_view address) {
  std::string text = lowered(address);
  constexpr std::string_view kLocalhost = "localhost";
  if (text.substr(0, text.rfind(':')) == kLocalhost)
    text.replace(0, kLocalhost.size(), "127.0.0.1");
  return text;
}

}  // namespace cleave
