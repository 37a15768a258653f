#include "proxy/fan_out/fan_out.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/check.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

// ":12\r\n" or "*12\r\n" without its mark; moves `raw` behind the line.
std::optional<std::int64_t> take_number(std::string_view& raw) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  const auto digits = static_cast<std::size_t>(end - raw.data());
  if (failed != std::errc{} || raw.size() < digits + 2) return std::nullopt;
  raw.remove_prefix(digits + 2);
  return number;
}

std::string_view without_mark_and_end(std::string_view line) {
  line.remove_prefix(1);
  line.remove_suffix(2);
  return line;
}

}  // namespace

std::string GatheredBytes::refusal() const {
  return "ERR cleave: the replies of several servers that wait to become one have more than " +
         std::to_string(bytes_max_) + " bytes; ask for fewer or smaller keys at once";
}

bool FanOut::begin(route::Merge merge, std::size_t places) {
  end();
  merge_ = merge;
  places_ = places;
  open_ = 0;
  sum_ = 0;
  failed_ = false;
  overflowed_ = false;
  error_.clear();
  flushed_.clear();
  not_flushed_.clear();
  if (merge != route::Merge::kArrayInOrder) return true;
  if (!keep(places * sizeof(Slice))) return false;
  elements_.assign(places, Slice{});
  return true;
}

void FanOut::end() {
  constexpr std::size_t kKeptBytes = 4'096;
  keep_nothing();
  bytes_.clear();
  if (bytes_.capacity() > kKeptBytes) std::string().swap(bytes_);
  elements_.clear();
  if (elements_.capacity() > kKeptBytes / sizeof(Slice)) std::vector<Slice>().swap(elements_);
}

bool FanOut::keep(std::size_t bytes) {
  if (!gathered_.take(bytes)) return false;
  kept_ += bytes;
  return true;
}

void FanOut::keep_nothing() { gathered_.give_back(std::exchange(kept_, 0)); }

void FanOut::part_replied(std::string_view raw, std::span<const std::uint32_t> places) {
  CHECK(open_ > 0 && !raw.empty());
  --open_;
  merge(raw, places);
}

void FanOut::part_failed(std::string_view text) {
  CHECK(open_ > 0);
  --open_;
  keep_error(text);
}

void FanOut::part_flushed(std::string_view title, std::string_view error) {
  CHECK(open_ > 0);
  --open_;
  std::string& list = error.empty() ? flushed_ : not_flushed_;
  list.append(list.empty() ? "" : ", ").append(title);
  if (error.empty()) return;
  list.append(" (").append(error).append(")");
  keep_error(error);
}

void FanOut::part_subtracted(std::string_view raw) {
  CHECK(open_ > 0 && !raw.empty());
  --open_;
  if (raw.front() == '-') return keep_error(without_mark_and_end(raw));
  sum_ -= number_in(raw);
}

void FanOut::merge(std::string_view raw, std::span<const std::uint32_t> places) {
  if (failed_) return;  // what it would add is not shown any more
  if (raw.front() == '-') return keep_error(without_mark_and_end(raw));
  switch (merge_) {
    case route::Merge::kAllOk: return;
    case route::Merge::kArrayInOrder: return merge_elements(raw, places);
    case route::Merge::kNone:
    case route::Merge::kSumIntegers: break;
  }
  sum_ += number_in(raw);
}

std::int64_t FanOut::number_in(std::string_view raw) {
  const bool integer = raw.front() == ':';
  raw.remove_prefix(1);
  const std::optional<std::int64_t> number = integer ? take_number(raw) : std::nullopt;
  if (!number) keep_error("ERR cleave: a server answered with something else than a number");
  return number.value_or(0);
}

void FanOut::merge_elements(std::string_view raw, std::span<const std::uint32_t> places) {
  const bool array = raw.front() == '*';
  raw.remove_prefix(1);
  const std::optional<std::int64_t> count = array ? take_number(raw) : std::nullopt;
  if (!count || *count < 0 || static_cast<std::size_t>(*count) != places.size()) {
    return keep_error("ERR cleave: a server answered with another number of values");
  }
  if (!keep(raw.size())) {
    overflowed_ = true;
    return keep_error(gathered_.refusal());
  }
  std::size_t offset = bytes_.size();
  bytes_.append(raw);
  wire::ReplyScanner scanner{Limits{}};
  for (const std::uint32_t place : places) {
    const Result<std::size_t> size = scanner.scan(std::string_view(bytes_).substr(offset));
    CHECK(size && *size > 0 && place < elements_.size());  // the whole was scanned before
    elements_[place] = {.offset = offset, .size = *size};
    offset += *size;
  }
}

void FanOut::keep_error(std::string_view text) {
  if (std::exchange(failed_, true)) return;
  error_ = text;
  std::string().swap(bytes_);
  std::vector<Slice>().swap(elements_);
  keep_nothing();
}

void FanOut::append_reply(std::string& out) const {
  CHECK(complete());
  if (failed_ && !flushed_.empty())
    return wire::append_error(out, "ERR cleave: only a part was flushed: " + flushed_ +
                                       "; not, or not for certain: " + not_flushed_);
  if (failed_) return wire::append_error(out, error_);
  switch (merge_) {
    case route::Merge::kAllOk: return wire::append_status(out, "OK");
    case route::Merge::kNone:
    case route::Merge::kSumIntegers: return wire::append_integer(out, sum_);
    case route::Merge::kArrayInOrder: break;
  }
  wire::append_array_header(out, places_);
  for (const Slice& element : elements_) out.append(bytes_, element.offset, element.size);
}

}  // namespace cleave::proxy
