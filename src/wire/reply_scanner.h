// Finds where a reply ends, without building anything: what the data path does with every reply.
//
// Source: Redis protocol specification (RESP2: + - : $ *, "$-1" and "*-1").
// Threads: one owner each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"

namespace cleave::wire {

// Arrays inside arrays. Redis's own replies nest 7 deep at most (COMMAND DOCS); scripts may nest
// more, but a bound keeps a broken server from growing our memory.
inline constexpr std::size_t kReplyDepthMax = 32;

class ReplyScanner {
 public:
  explicit ReplyScanner(const Limits& limits) : limits_(limits) {}

  // Bytes of the one whole reply at the start of `pending`; 0 when more bytes are needed: then call
  // again with the same bytes and more after them. Status and error text is any bytes up to CRLF
  // ("-10001\r\n" is a reply). Errors: kInvalid: not RESP2, or nested too deep; kExhausted: larger
  // than reply_bytes_max. Either way the connection cannot be used any more.
  // Cost: O(new bytes and elements) a call; bulk contents are not looked at; no allocation.
  Result<std::size_t> scan(std::string_view pending);

 private:
  enum class Step : std::uint8_t { kRead, kMore, kBroken, kTooBig };

  Step read_element(std::string_view pending);
  Step read_line(std::string_view pending, std::string_view& text);
  Step read_number(std::string_view pending, std::int64_t& number);
  Step read_bulk_bytes(std::string_view pending);
  Step open_array(std::int64_t elements);
  void element_done();

  Limits limits_;
  std::size_t scanned_ = 0;       // bytes of `pending` that are understood
  std::size_t searched_ = 0;      // bytes of `pending` known to hold no end of the current line
  std::int64_t bulk_bytes_ = -1;  // of the bulk whose length line was read; -1: none
  std::array<std::int64_t, kReplyDepthMax> open_{};  // elements still to come of each open array
  std::size_t depth_ = 0;
  bool done_ = false;
};

}  // namespace cleave::wire
