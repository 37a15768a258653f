#include "app/config/place.h"

namespace cleave::app {

Result<std::optional<Token>> as_token(std::string_view text) {
  const bool meant = text.starts_with("0x") || text.starts_with("0X");
  if (!meant && text.size() != 16) return std::nullopt;
  const Result<Token> token = ring::parse_token(text);
  if (token) return *token;
  if (!meant) return std::nullopt;
  return fail(Code::kInvalid,
              token.error().message + "; a key that begins with 0x is written \\x30x...");
}

Result<ring::TokenRange> parse_range(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  const std::size_t dash = text.find(bracketed ? ',' : '-');
  if (dash == std::string_view::npos) {
    return fail(Code::kInvalid, "range '" + std::string(text) + "': want FIRST-LAST, two tokens");
  }
  const Result<Token> first = ring::parse_token(text.substr(0, dash));
  if (!first) return std::unexpected(first.error());
  const Result<Token> last = ring::parse_token(text.substr(dash + 1));
  if (!last) return std::unexpected(last.error());
  if (*last < *first) {
    return fail(Code::kInvalid, "range '" + std::string(text) +
                                    "': the first token is after the last; order a range that "
                                    "wraps as two moves");
  }
  return ring::TokenRange{.first = *first, .last = *last};
}

}  // namespace cleave::app
