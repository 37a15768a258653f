#include "admin/message.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace cleave::admin {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text, char plus) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded.push_back(plus);
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

int http_status(Code code) {
  switch (code) {
    case Code::kInvalid: return 400;
    case Code::kNotFound: return 404;
    case Code::kConflict: return 409;
    case Code::kExhausted: return 429;
    case Code::kUnavailable: return 503;
    case Code::kTimeout: return 504;
  }
  return 500;
}

}  // namespace

std::optional<Request> decode_target(std::string_view target) {
  Request request;
  const std::size_t mark = target.find('?');
  const std::optional<std::string> path = decode(target.substr(0, mark), '+');
  if (!path) return std::nullopt;
  request.path = *path;
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(pair.size() == rest.size() ? pair.size() : pair.size() + 1);
    const std::size_t equals = pair.find('=');
    const std::optional<std::string> name = decode(pair.substr(0, equals), ' ');
    const std::optional<std::string> value =
        decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), ' ');
    if (!name || !value) return std::nullopt;
    request.query[*name] = *value;
  }
  return request;
}

std::string encode_component(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
  }
  return encoded;
}

Response error_response(const Error& error) {
  // Messages may carry bytes of keys, which need not be UTF-8.
  const nlohmann::ordered_json body = {
      {"error", {{"code", to_string(error.code)}, {"message", error.message}}}};
  return {.status = http_status(error.code),
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

}  // namespace cleave::admin
