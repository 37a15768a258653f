// Integers from bytes, little endian. For the hashes of this folder.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"

namespace cleave::ring {

// The first `count` bytes. Requires: count <= 8 and that many bytes.
constexpr std::uint64_t load_bytes(std::string_view bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

// The same of a whole integer, in one load. Requires: that many bytes.
template <std::unsigned_integral Word>
Word load(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little, "turn the bytes around here");
  Word word = 0;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the size is told, the word's
  std::memcpy(&word, bytes.data(), sizeof(word));
  return word;
}

inline std::uint64_t load_64(std::string_view bytes) { return load<std::uint64_t>(bytes); }
inline std::uint32_t load_32(std::string_view bytes) { return load<std::uint32_t>(bytes); }
inline std::uint32_t load_16(std::string_view bytes) { return load<std::uint16_t>(bytes); }

// The last `count` bytes; in one load where there are eight. Requires: 1 <= count <= 8 and that
// many bytes.
inline std::uint64_t load_tail(std::string_view bytes, std::size_t count) {
  CHECK(count > 0 && count <= 8);  // a shift by 64 bits would be none
  if (bytes.size() < 8) return load_bytes(bytes.substr(bytes.size() - count), count);
  return load_64(bytes.substr(bytes.size() - 8)) >> (8 * (8 - count));
}

}  // namespace cleave::ring
