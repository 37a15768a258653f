#include "wire/reply_scanner.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "wire/number.h"

namespace cleave::wire {
namespace {

// What a person sees of the bytes that were not understood.
std::string excerpt(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes.substr(0, 32)) {
    text.push_back(byte >= ' ' && byte <= '~' ? byte : '?');
  }
  return text;
}

}  // namespace

Result<std::size_t> ReplyScanner::scan(std::string_view pending) {
  CHECK(scanned_ <= pending.size());  // the bytes of the call before are still there
  Step step = Step::kRead;
  while (step == Step::kRead && !done_) step = read_element(pending);
  if (step == Step::kBroken) {
    return fail(Code::kInvalid, "not a RESP2 reply at byte " + std::to_string(scanned_) + ": '" +
                                    excerpt(pending.substr(scanned_)) + "'");
  }
  const std::size_t bytes = step == Step::kRead ? scanned_ : pending.size();
  if (step == Step::kTooBig || bytes > limits_.reply_bytes_max) {
    return fail(Code::kExhausted,
                "a reply is larger than " + std::to_string(limits_.reply_bytes_max) + " bytes");
  }
  if (step == Step::kMore) return 0U;
  CHECK(depth_ == 0 && bulk_bytes_ < 0);
  scanned_ = 0;
  searched_ = 0;
  done_ = false;
  return bytes;
}

ReplyScanner::Step ReplyScanner::read_element(std::string_view pending) {
  if (bulk_bytes_ >= 0) return read_bulk_bytes(pending);
  if (pending.size() == scanned_) return Step::kMore;
  const char type = pending[scanned_];
  std::int64_t number = 0;
  std::string_view text;
  Step step = Step::kBroken;
  switch (type) {
    case '+':
    case '-': step = read_line(pending, text); break;
    case ':':
    case '$':
    case '*': step = read_number(pending, number); break;
    default: return Step::kBroken;
  }
  if (step != Step::kRead) return step;
  if (type == '*') return open_array(number);
  if (type != '$' || number == -1) {
    element_done();
    return Step::kRead;
  }
  if (number < 0) return Step::kBroken;
  // Said at once, not when so many bytes have been kept; and no larger number enters the sums.
  if (std::cmp_greater(number, limits_.reply_bytes_max)) return Step::kTooBig;
  bulk_bytes_ = number;
  return Step::kRead;
}

ReplyScanner::Step ReplyScanner::read_line(std::string_view pending, std::string_view& text) {
  std::size_t from = std::max(scanned_, searched_);
  while (from < pending.size()) {
    const char* const begin = pending.data() + from;
    const auto* found = static_cast<const char*>(std::memchr(begin, '\r', pending.size() - from));
    if (found == nullptr) {
      from = pending.size();
      break;
    }
    from = static_cast<std::size_t>(found - pending.data());
    if (from + 1 == pending.size()) break;
    if (found[1] == '\n') {
      text = pending.substr(scanned_ + 1, from - scanned_ - 1);
      scanned_ = from + 2;
      return Step::kRead;
    }
    ++from;  // a CR alone is text
  }
  searched_ = from;
  return Step::kMore;
}

ReplyScanner::Step ReplyScanner::read_number(std::string_view pending, std::int64_t& number) {
  const char* const begin = pending.data();
  const char* const next = read_length(begin + scanned_ + 1, begin + pending.size(), number);
  if (next != nullptr) {
    scanned_ = static_cast<std::size_t>(next - begin);
    return Step::kRead;
  }
  // A number has at most 20 characters and a sign: without an end by then it is none.
  constexpr std::size_t kLineMax = 24;
  const std::size_t start = scanned_;
  std::string_view text;
  if (read_line(pending.substr(0, std::min(pending.size(), start + kLineMax)), text) ==
      Step::kMore) {
    return pending.size() - start >= kLineMax ? Step::kBroken : Step::kMore;
  }
  if (pending[start] == ':' && text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  const auto parsed = parse_number(text);
  if (!parsed) {
    scanned_ = start;  // where the error message points
    return Step::kBroken;
  }
  number = *parsed;
  return Step::kRead;
}

ReplyScanner::Step ReplyScanner::read_bulk_bytes(std::string_view pending) {
  const auto bytes = static_cast<std::size_t>(bulk_bytes_);
  if (pending.size() - scanned_ < bytes + 2) return Step::kMore;
  const char* const after = pending.data() + scanned_ + bytes;
  if (after[0] != '\r' || after[1] != '\n') {
    scanned_ += bytes;
    return Step::kBroken;
  }
  scanned_ += bytes + 2;
  bulk_bytes_ = -1;
  element_done();
  return Step::kRead;
}

ReplyScanner::Step ReplyScanner::open_array(std::int64_t elements) {
  if (elements < -1) return Step::kBroken;
  if (elements <= 0) {
    element_done();
    return Step::kRead;
  }
  if (depth_ == kReplyDepthMax) return Step::kBroken;
  open_[depth_++] = elements;
  return Step::kRead;
}

void ReplyScanner::element_done() {
  for (; depth_ > 0; --depth_) {
    CHECK(open_[depth_ - 1] > 0);  // one without elements is not opened
    if (--open_[depth_ - 1] > 0) break;
  }
  done_ = depth_ == 0;
}

}  // namespace cleave::wire
