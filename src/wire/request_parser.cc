#include "wire/request_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "wire/inline_args.h"
#include "wire/number.h"

namespace cleave::wire {
namespace {

// Scratch space above this many arguments is given back once it is no longer in use.
constexpr std::size_t kKeptArgs = 1024;
constexpr std::int64_t kUsualArgs = 16;

// Of a client that has to say a password first: networking.c, authRequired().
constexpr std::int64_t kStrangersArgs = 10;
constexpr std::int64_t kStrangersBytes = 16'384;

// Where `wanted` first stands in `text` from `from` on, looking at no more than `window` bytes.
// npos: not there. Redis uses strchr, for which a NUL ends the text; so it does here, else a line
// would be understood that the server waits on.
std::size_t find_line_end(std::string_view text, std::size_t from, std::size_t window,
                          char wanted) {
  text = text.substr(from, window);
  if (text.empty()) return std::string_view::npos;
  const auto* found = static_cast<const char*>(std::memchr(text.data(), wanted, text.size()));
  if (found == nullptr) return std::string_view::npos;
  const auto before = static_cast<std::size_t>(found - text.data());
  if (std::memchr(text.data(), '\0', before) != nullptr) return std::string_view::npos;
  return from + before;
}

}  // namespace

Result<std::size_t> RequestParser::parse(std::string_view pending, Request& request) {
  CHECK(scanned_ <= pending.size());  // the bytes of the call before are still there
  Step step = Step::kRead;
  if (args_wanted_ < 0) {
    if (pending.empty()) return 0U;
    if (pending.front() != '*') return parse_inline(pending, request);
    if (const std::size_t bytes = trusted_ ? parse_usual(pending, request) : 0; bytes > 0) {
      return bytes;
    }
    step = read_count(pending);
  }
  while (step == Step::kRead && std::cmp_less(pieces_.size(), args_wanted_)) {
    step = read_argument(pending);
  }
  if (step == Step::kRead) return finish(pending, request);
  if (step == Step::kMore) return 0U;
  return fail(Code::kInvalid, broken_);
}

std::size_t RequestParser::parse_usual(std::string_view pending, Request& request) {
  CHECK(scanned_ == 0);  // nothing is kept of an incomplete first line
  const char* const begin = pending.data();
  const char* const end = begin + pending.size();
  std::int64_t count = 0;
  const char* at = read_length(begin + 1, end, count);
  if (at == nullptr || count <= 0 || count > kUsualArgs) return 0;
  args_.resize(static_cast<std::size_t>(count));
  for (std::string_view& arg : args_) {
    if (at == end || *at != '$') return 0;
    std::int64_t bytes = 0;
    const char* const data = read_length(at + 1, end, bytes);
    if (data == nullptr || end - data < bytes + 2) return 0;
    if (data[bytes] != '\r' || data[bytes + 1] != '\n') return 0;
    arg = {data, static_cast<std::size_t>(bytes)};
    at = data + bytes + 2;
  }
  const auto taken = static_cast<std::size_t>(at - begin);
  if (taken > limits_.request_bytes_max || args_.size() > limits_.request_args_max) return 0;
  request = {.args = args_, .raw = pending.substr(0, taken), .multibulk = true};
  return taken;
}

RequestParser::Step RequestParser::read_count(std::string_view pending) {
  if (pieces_.capacity() > kKeptArgs) pieces_ = {};
  if (args_.capacity() > kKeptArgs) args_ = {};
  const char* const begin = pending.data();
  std::int64_t count = 0;
  const char* next = read_length(begin + 1, begin + pending.size(), count);
  if (next != nullptr) {
    scanned_ = static_cast<std::size_t>(next - begin);
  } else {
    std::string_view line;
    const Step step = read_line(pending, "Protocol error: too big mbulk count string", line);
    if (step != Step::kRead) return step;
    const auto number = parse_number(line.substr(1));
    if (!number) return broken("Protocol error: invalid multibulk length");
    count = *number < 0 ? 0 : *number;
  }
  if (std::cmp_greater(count, limits_.request_args_max)) {
    return broken("Protocol error: invalid multibulk length");
  }
  if (!trusted_ && count > kStrangersArgs) {
    return broken("Protocol error: unauthenticated multibulk length");
  }
  args_wanted_ = count;
  return Step::kRead;
}

RequestParser::Step RequestParser::read_argument(std::string_view pending) {
  if (bulk_bytes_ < 0) {
    const Step step = read_bulk_length(pending);
    if (step != Step::kRead) return step;
  }
  const auto bytes = static_cast<std::size_t>(bulk_bytes_);
  if (pending.size() - scanned_ < bytes + 2) return Step::kMore;
  const char* const after = pending.data() + scanned_ + bytes;
  clean_ &= after[0] == '\r' && after[1] == '\n';
  pieces_.push_back({.offset = scanned_, .bytes = bytes});
  scanned_ += bytes + 2;
  bulk_bytes_ = -1;
  return Step::kRead;
}

RequestParser::Step RequestParser::read_bulk_length(std::string_view pending) {
  const char* const begin = pending.data();
  const char* const end = begin + pending.size();
  const char* const at = begin + scanned_;
  std::int64_t bytes = 0;
  const char* const next = at != end && *at == '$' ? read_length(at + 1, end, bytes) : nullptr;
  if (next != nullptr) {
    scanned_ = static_cast<std::size_t>(next - begin);
  } else {
    std::string_view line;
    const Step step = read_line(pending, "Protocol error: too big bulk count string", line);
    if (step != Step::kRead) return step;
    if (*at != '$') return broken(std::string("Protocol error: expected '$', got '") + *at + "'");
    const auto number = parse_number(line.substr(1));
    if (!number || *number < 0) return broken("Protocol error: invalid bulk length");
    bytes = *number;
  }
  args_bytes_ += static_cast<std::size_t>(bytes);
  if (std::cmp_greater(bytes, limits_.request_bytes_max) ||
      args_bytes_ > limits_.request_bytes_max) {
    return broken("Protocol error: invalid bulk length");
  }
  if (!trusted_ && bytes > kStrangersBytes) {
    return broken("Protocol error: unauthenticated bulk length");
  }
  bulk_bytes_ = bytes;
  return Step::kRead;
}

RequestParser::Step RequestParser::read_line(std::string_view pending, std::string_view too_big,
                                             std::string_view& text) {
  const std::size_t window = limits_.inline_bytes_max + 1;
  const std::size_t end = find_line_end(pending, scanned_, window, '\r');
  if (end == std::string_view::npos) {
    return pending.size() - scanned_ >= window ? broken(std::string(too_big)) : Step::kMore;
  }
  if (pending.size() - end < 2) return Step::kMore;
  clean_ &= pending[end + 1] == '\n';
  text = pending.substr(scanned_, end - scanned_);
  scanned_ = end + 2;
  return Step::kRead;
}

std::size_t RequestParser::finish(std::string_view pending, Request& request) {
  CHECK(std::cmp_equal(pieces_.size(), args_wanted_) && bulk_bytes_ < 0);
  args_.clear();
  for (const Piece& piece : pieces_) args_.emplace_back(pending.data() + piece.offset, piece.bytes);
  const std::size_t taken = scanned_;
  request = {.args = args_, .raw = pending.substr(0, taken), .multibulk = clean_};
  pieces_.clear();
  scanned_ = 0;
  args_wanted_ = -1;
  args_bytes_ = 0;
  clean_ = true;
  return taken;
}

Result<std::size_t> RequestParser::parse_inline(std::string_view pending, Request& request) {
  CHECK(scanned_ <= limits_.inline_bytes_max);  // a longer line was refused
  const std::size_t window = limits_.inline_bytes_max + 1 - scanned_;
  const std::size_t newline = find_line_end(pending, scanned_, window, '\n');
  if (newline == std::string_view::npos) {
    if (pending.size() > limits_.inline_bytes_max) {
      return fail(Code::kInvalid, "Protocol error: too big inline request");
    }
    // Bytes before a NUL need no second look, the NUL itself does: it hides any later newline.
    scanned_ = std::min(pending.find('\0', scanned_), pending.size());
    return 0U;
  }
  if (inline_args_.size() > kKeptArgs) inline_args_ = {};
  std::string_view line = pending.substr(0, newline);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto count = cut_inline(line, inline_args_);
  if (!count) return fail(Code::kInvalid, "Protocol error: unbalanced quotes in request");
  args_.assign(inline_args_.begin(), inline_args_.begin() + static_cast<std::ptrdiff_t>(*count));
  request = {.args = args_, .raw = pending.substr(0, newline + 1), .multibulk = false};
  scanned_ = 0;
  return newline + 1;
}

RequestParser::Step RequestParser::broken(std::string text) {
  broken_ = std::move(text);
  return Step::kBroken;
}

}  // namespace cleave::wire
