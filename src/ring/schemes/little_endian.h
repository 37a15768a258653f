// Integers from bytes, little endian. For the hashes of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleave::ring {

// The first `count` bytes. Requires: count <= 8 and that many bytes.
constexpr std::uint64_t load_bytes(std::string_view bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

constexpr std::uint64_t load_64(std::string_view bytes) { return load_bytes(bytes, 8); }

constexpr std::uint32_t load_32(std::string_view bytes) {
  return static_cast<std::uint32_t>(load_bytes(bytes, 4));
}

constexpr std::uint32_t load_16(std::string_view bytes) {
  return static_cast<std::uint32_t>(load_bytes(bytes, 2));
}

}  // namespace cleave::ring
