#include "wire/reply.h"

#include "base/check.h"
#include "base/limits.h"
#include "wire/number.h"
#include "wire/reply_scanner.h"

namespace cleave::wire {
namespace {

// Takes one reply off the front of `raw`. The scanner has approved of all of it, nesting included:
// what does not hold here is not the server's fault, but the two read the same bytes differently.
Reply take(std::string_view& raw) {
  CHECK(!raw.empty());
  const char type = raw.front();
  const std::size_t end = raw.find("\r\n");
  CHECK(end != std::string_view::npos);
  std::string_view line = raw.substr(1, end - 1);
  raw.remove_prefix(end + 2);
  if (type == '+') return {.type = Reply::Type::kStatus, .text = std::string(line)};
  if (type == '-') return {.type = Reply::Type::kError, .text = std::string(line)};
  if (line.starts_with('+')) line.remove_prefix(1);
  const auto parsed = parse_number(line);
  CHECK(parsed.has_value());
  const std::int64_t number = *parsed;
  if (type == ':') return {.type = Reply::Type::kInteger, .integer = number};
  if (number < 0) return {};
  if (type == '$') {
    const auto bytes = static_cast<std::size_t>(number);
    CHECK(raw.size() >= bytes + 2);
    Reply bulk{.type = Reply::Type::kBulk, .text = std::string(raw.substr(0, bytes))};
    raw.remove_prefix(bytes + 2);
    return bulk;
  }
  Reply array{.type = Reply::Type::kArray};
  for (std::int64_t i = 0; i < number; ++i) array.elements.push_back(take(raw));
  return array;
}

}  // namespace

Result<Reply> parse_reply(std::string_view raw) {
  ReplyScanner scanner{Limits{}};
  const auto bytes = scanner.scan(raw);
  if (!bytes) return std::unexpected(bytes.error());
  if (*bytes == 0) return fail(Code::kInvalid, "a reply is cut off");
  if (*bytes != raw.size()) return fail(Code::kInvalid, "bytes follow a reply");
  Reply reply = take(raw);
  CHECK(raw.empty());
  return reply;
}

}  // namespace cleave::wire
