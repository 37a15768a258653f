#include "net/url.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/hex.h"

namespace cleave::net {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

enum class Plus : std::uint8_t { kIsPlus, kIsSpace };

std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kIsSpace) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto byte = hex_byte(text[i + 1], text[i + 2]);
      if (!byte) return std::nullopt;
      decoded += *byte;
      i += 2;
    }
  }
  return decoded;
}

bool stands_for_itself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

Result<Url> parse_url(std::string_view text, Port port) {
  Url url{.tls = text.starts_with(kHttps)};
  if (!url.tls && !text.starts_with(kHttp))
    return fail(Code::kInvalid, "it begins with neither http:// nor https://");
  const std::string_view rest = text.substr(url.tls ? kHttps.size() : kHttp.size());
  const std::size_t slash = rest.find('/');
  std::string host(rest.substr(0, slash));
  // A port is behind the last colon, but "[::1]" has colons of its own.
  const bool has_port = host.rfind(':') != host.npos && !host.ends_with(']');
  if (!has_port && port == Port::kOptional)
    host += ":" + std::to_string(url.tls ? kHttpsPort : kHttpPort);
  Result<Address> address = parse_address(host);
  if (!address) return std::unexpected(address.error());
  url.address = std::move(*address);
  if (slash != rest.npos) url.target = rest.substr(slash);
  return url;
}

Result<HttpTarget> parse_target(std::string_view target) {
  const std::string where = "target '" + std::string(target) + "'";
  if (!target.starts_with('/')) return fail(Code::kInvalid, where + ": want a path from '/'");
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  HttpTarget parsed;
  const auto path = percent_decode(target.substr(0, mark), Plus::kIsPlus);
  if (!path) return fail(Code::kInvalid, where + ": '%' wants two hexadecimal digits");
  parsed.path = *path;
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto key = percent_decode(pair.substr(0, equals), Plus::kIsSpace);
    const auto value =
        percent_decode(pair.substr(std::min(equals + 1, pair.size())), Plus::kIsSpace);
    if (!key || !value) return fail(Code::kInvalid, where + ": '%' wants two hexadecimal digits");
    if (!parsed.query.emplace(*key, *value).second)
      return fail(Code::kInvalid, where + ": parameter '" + *key + "' is given twice");
  }
  return parsed;
}

std::string encode_component(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (stands_for_itself(c)) {
      encoded += c;
      continue;
    }
    encoded += '%';
    append_hex(encoded, c);
  }
  return encoded;
}

}  // namespace cleave::net
