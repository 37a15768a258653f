#include "convert/pool/address.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/to_number.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kLocalhost = "localhost";

bool is_host_character(char c) {
  return (lowered(c) >= 'a' && lowered(c) <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':' || c == '%';
}

bool is_numeric(std::string_view host) {
  return std::ranges::all_of(host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string_view host_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

}  // namespace

Result<std::string> join_address(std::string_view host, std::string_view port) {
  const std::string text = std::string(host) + ":" + std::string(port);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !std::ranges::all_of(host, is_host_character))
    return fail(Code::kInvalid, "'" + text + "' is no address: want host:port");
  const auto number = to_number<std::uint16_t>(port);
  if (!number || *number == 0)
    return fail(Code::kInvalid, "'" + text + "': want a port from 1 to 65535");
  const bool is_ipv6 = host.contains(':');
  return (is_ipv6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(*number);
}

Result<std::string> read_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return fail(Code::kInvalid, "'" + std::string(text) + "' is no address: want host:port");
  return join_address(text.substr(0, colon), text.substr(colon + 1));
}

std::string without_brackets(std::string_view address) {
  std::string text(address);
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

bool is_loopback(std::string_view address) {
  const std::string_view host = host_of(address);
  // Numeric only: "127.example.org" is a name that may resolve to anything.
  return host == kLocalhost || host == "[::1]" || (is_numeric(host) && host.starts_with("127."));
}

bool is_numeric_host(std::string_view address) {
  const std::string_view host = host_of(address);
  return is_numeric(host) || host.starts_with('[');
}

}  // namespace cleave::convert
