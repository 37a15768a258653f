#include <charconv>

#include "net/loop.h"

namespace cleave::net {
namespace {

struct Parts {
  std::string_view host;
  std::string_view port;
};

// Errors: the reason alone; the caller names the text.
Result<Parts> cut_apart(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find("]:");
    if (end == std::string_view::npos) return fail(Code::kInvalid, "want '[host]:port'");
    return Parts{.host = text.substr(1, end - 1), .port = text.substr(end + 2)};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail(Code::kInvalid, "want 'host:port'");
  if (text.find(':', colon + 1) != std::string_view::npos)
    return fail(Code::kInvalid, "an IPv6 host goes in brackets: '[::1]:6379'");
  return Parts{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':' || c == '%';
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  const std::string where = "address '" + std::string(text) + "'";
  const Result<Parts> parts = cut_apart(text);
  if (!parts) return fail(where, parts.error());
  const auto [host, port] = *parts;
  if (host.empty()) return fail(Code::kInvalid, where + ": the host is empty");
  for (const char c : host)
    if (!is_host_character(c))
      return fail(Code::kInvalid, where + ": a host has letters, digits and '.-_' only");

  std::uint16_t number = 0;
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (failed != std::errc{} || end != port.data() + port.size())
    return fail(Code::kInvalid, where + ": want a port from 0 to 65535 after the colon");
  return Address{.host = std::string(host), .port = number};
}

std::string to_string(const Address& address) {
  const std::string port = std::to_string(address.port);
  if (address.host.find(':') != std::string::npos) return "[" + address.host + "]:" + port;
  return address.host + ":" + port;
}

}  // namespace cleave::net
