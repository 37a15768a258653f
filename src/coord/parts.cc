#include "coord/parts.h"

#include <charconv>

#include "base/hash.h"

namespace cleave::coord {
namespace {

constexpr std::string_view kMagic = "cleave-register 1 ";

// Fixed width, so that names sort as their numbers do.
std::string padded(std::uint64_t number, std::size_t width, int base) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number, base).ptr;
  const auto size = static_cast<std::size_t>(end - digits);
  return std::string(width > size ? width - size : 0, '0') + std::string(digits, size);
}

// Takes a number and the separator behind it from the front.
bool take_number(std::string_view& text, std::uint64_t& number, char separator, int base) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc{} || end == text.data() + text.size() || *end != separator) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::unexpected<Error> damaged(const std::string& what) {
  return fail(Code::kInvalid, "the coordinator's document is damaged: " + what);
}

}  // namespace

Split split(Epoch epoch, std::string_view text) {
  const std::uint64_t hash = xxh3_64(text);
  Split made;
  made.head = std::string(kMagic) + std::to_string(epoch.value()) + " " +
              std::to_string(text.size()) + " " + padded(hash, 16, 16) + "\n";
  if (text.size() <= kPartBytes) {
    made.head += text;
    return made;
  }
  const Head head{.epoch = epoch,
                  .bytes = text.size(),
                  .hash = hash,
                  .parts = (text.size() + kPartBytes - 1) / kPartBytes,
                  .inline_text = {}};
  for (std::string& name : part_names(head)) {
    const std::string_view bytes = text.substr(made.parts.size() * kPartBytes, kPartBytes);
    made.parts.push_back({.name = std::move(name), .bytes = std::string(bytes)});
  }
  return made;
}

Result<Head> parse_head(std::string_view bytes) {
  const std::string beginning(bytes.substr(0, 40));
  if (!bytes.starts_with(kMagic))
    return damaged("it begins with '" + beginning + "', not with '" + std::string(kMagic) +
                   "'; another program, or a newer cleave, writes this key");
  bytes.remove_prefix(kMagic.size());
  std::uint64_t epoch = 0;
  std::uint64_t size = 0;
  Head head;
  if (!take_number(bytes, epoch, ' ', 10) || !take_number(bytes, size, ' ', 10) ||
      !take_number(bytes, head.hash, '\n', 16) || size > kTextBytesMax)
    return damaged("the first line, '" + beginning + "'");
  head.epoch = Epoch{epoch};
  head.bytes = size;
  if (head.bytes <= kPartBytes) {
    head.inline_text = bytes;
  } else {
    if (!bytes.empty()) return damaged("text and parts");
    head.parts = (head.bytes + kPartBytes - 1) / kPartBytes;
  }
  return head;
}

std::vector<std::string> part_names(const Head& head) {
  const std::string stem = oldest_part_name(head.epoch) + padded(head.hash, 16, 16) + "-";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < head.parts; ++i) names.push_back(stem + padded(i, 4, 10));
  return names;
}

std::string oldest_part_name(Epoch epoch) { return padded(epoch.value(), 20, 10) + "-"; }

Result<std::string> join(const Head& head, const std::vector<std::string>& parts) {
  std::string text = head.inline_text;
  if (head.parts > 0) {
    if (parts.size() != head.parts)
      return damaged(std::to_string(parts.size()) + " of " + std::to_string(head.parts) + " parts");
    text.reserve(head.bytes);
    for (const std::string& part : parts) text += part;
  }
  if (text.size() != head.bytes)
    return damaged(std::to_string(text.size()) + " of " + std::to_string(head.bytes) + " bytes");
  if (xxh3_64(text) != head.hash) return damaged("its hash differs");
  return text;
}

}  // namespace cleave::coord
