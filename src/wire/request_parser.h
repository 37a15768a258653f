// Requests of clients, RESP2 and inline, found in a stream of bytes.
//
// Understands exactly what redis-server 7 does, its error texts included, because what is accepted
// here is sent on to such a server on a connection that many clients share: a request that the two
// would read differently could make a client see another one's replies. Two differences, both on
// the safe side: the verdict never depends on how the bytes were cut into pieces, and a frame whose
// separators are not CRLF (Redis looks at neither byte) is not forwarded as it is.
//
// Source: Redis protocol specification (RESP2); networking.c and sdssplitargs of redis-server 7.0,
// recorded in wire/testdata/requests.golden.
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

// One complete request. Views into the caller's bytes and into the parser (inline arguments), valid
// until the next call and as long as the caller's bytes are.
struct Request {
  std::span<const std::string_view> args;  // empty: a frame that is to be passed over ("*0", "*-1")
  std::string_view raw;                    // the bytes as received; see `multibulk`
  // True: `raw` is a clean multibulk frame that may be sent on as it is. False: an inline command,
  // or odd separators; it must be encoded again from `args`.
  bool multibulk = true;
};

class RequestParser {
 public:
  explicit RequestParser(const Limits& limits) : limits_(limits) {}

  // Whose bytes these are: who has not said the password may send no more than Redis takes then, 10
  // arguments of 16 KiB.
  void trust(bool trusted) { trusted_ = trusted; }

  // Looks for one request at the start of `pending`. Returns the bytes it takes, with `request`
  // set; or 0 when more bytes are needed: then call again with the same bytes (anywhere in memory)
  // and more after them. kInvalid: the client broke the protocol ("Protocol error: ..." in Redis's
  // words, without "ERR") and must be answered and closed; the parser is then spent.
  // Cost: O(new bytes) a call; below 40 ns for a small SET; no allocation in the steady state.
  Result<std::size_t> parse(std::string_view pending, Request& request);

 private:
  enum class Step : std::uint8_t { kRead, kMore, kBroken };
  struct Piece {
    std::size_t offset;
    std::size_t bytes;
  };

  // A whole and clean request of few arguments, in one pass and without a trace; 0: anything else,
  // which is for the careful steps below, from the start.
  std::size_t parse_usual(std::string_view pending, Request& request);
  Step read_count(std::string_view pending);
  Step read_argument(std::string_view pending);
  Step read_bulk_length(std::string_view pending);
  // The careful way for a length line that is not the usual "<mark><digits>\r\n".
  Step read_line(std::string_view pending, std::string_view too_big, std::string_view& text);
  std::size_t finish(std::string_view pending, Request& request);
  Result<std::size_t> parse_inline(std::string_view pending, Request& request);
  Step broken(std::string text);

  Limits limits_;
  std::size_t scanned_ = 0;        // bytes of `pending` already understood
  std::int64_t args_wanted_ = -1;  // -1: the "*n" line is still to come
  std::int64_t bulk_bytes_ = -1;   // -1: the "$n" line is still to come
  std::size_t args_bytes_ = 0;     // of all arguments announced so far
  bool trusted_ = true;
  bool clean_ = true;  // every separator so far was CRLF
  // Offsets, not views: the caller's bytes may lie elsewhere at the next call.
  std::vector<Piece> pieces_;
  std::vector<std::string_view> args_;
  std::vector<std::string> inline_args_;  // unquoted copies of an inline command's arguments
  std::string broken_;
};

}  // namespace cleave::wire
