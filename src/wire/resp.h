// RESP2, incremental and without I/O: requests in, replies in, both out.
//
// Neither parser copies. The caller keeps the bytes that are not yet consumed in one piece and calls
// again with the same start and more of them; a parser remembers how far it got, so a large value
// that arrives in many pieces costs O(bytes), not O(bytes^2).
//
// Source: Redis protocol specification (RESP2); the limits are those of redis-server 7.
// Threads: one owner each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace cleave::wire {

// One complete request. Views into the caller's bytes, valid as long as those are.
struct Request {
  std::span<const std::string_view> args;  // empty: a frame that is to be passed over ("*0", "*-1")
  std::string_view raw;                    // the bytes as received; see `multibulk`
  bool multibulk = true;                   // false: an inline command; `raw` must be re-encoded
};

class RequestParser {
 public:
  explicit RequestParser(const Limits& limits) : limits_(limits) {}

  // Looks for one request at the start of `pending`. Returns the bytes it takes, with `request`
  // set; or 0 when more bytes are needed. kInvalid: the client broke the protocol ("Protocol error:
  // ..." in Redis's words) and must be answered and closed; the parser is then spent.
  Result<std::size_t> parse(std::string_view pending, Request& request);

 private:
  Limits limits_;
  std::size_t scanned_ = 0;       // bytes of `pending` already understood
  std::int64_t args_wanted_ = -1;  // -1: the "*n" line is still to come
  std::int64_t bulk_bytes_ = -1;   // -1: the "$n" line is still to come
  std::vector<std::pair<std::size_t, std::size_t>> offsets_;  // of the arguments seen so far
  std::vector<std::string_view> args_;
  std::vector<std::string> inline_args_;  // unquoted copies of an inline command's arguments
};

// Finds where a reply ends.
class ReplyScanner {
 public:
  explicit ReplyScanner(const Limits& limits) : limits_(limits) {}

  // Bytes of the one whole reply at the start of `pending`; 0 when more bytes are needed. Error
  // text is any bytes up to CRLF ("-10001\r\n" is a reply). kInvalid: not RESP2; the connection
  // cannot be used any more.
  Result<std::size_t> scan(std::string_view pending);

 private:
  Limits limits_;
  std::size_t scanned_ = 0;
  std::vector<std::int64_t> open_;  // elements still to come, of each array that is open
};

// A reply as a tree, for the few places that look inside (never the data path).
struct Reply {
  enum class Type : std::uint8_t { kStatus, kError, kInteger, kBulk, kNull, kArray };
  Type type = Type::kNull;
  std::string text;           // status, error (without '-'), bulk
  std::int64_t integer = 0;
  std::vector<Reply> elements;

  bool is_error() const { return type == Type::kError; }
  friend bool operator==(const Reply&, const Reply&) = default;
};

// Requires: one whole reply, as found by ReplyScanner. Errors: kInvalid.
Result<Reply> parse_reply(std::string_view raw);

// Appending writers. No allocation but the string's own growth.
void append_status(std::string& out, std::string_view text);
void append_error(std::string& out, std::string_view text);  // CR and LF in it become spaces
void append_integer(std::string& out, std::int64_t value);
void append_bulk(std::string& out, std::string_view bytes);
void append_null(std::string& out);
void append_array_header(std::string& out, std::size_t elements);
void append_command(std::string& out, std::span<const std::string_view> args);
std::string command(std::initializer_list<std::string_view> args);

}  // namespace cleave::wire
