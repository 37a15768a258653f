// MD5 and SHA-1, as placement schemes use them: to spread, not to protect. By OpenSSL's libcrypto.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cleave::ring {

using Md5 = std::array<std::uint8_t, 16>;
using Sha1 = std::array<std::uint8_t, 20>;

// RFC 1321 and RFC 3174.
Md5 md5(std::string_view bytes);
Sha1 sha1(std::string_view bytes);

// Bytes 4 x index .. 4 x index + 3, little endian: how the ketama family reads its points.
// Requires: index < 4.
template <std::size_t kBytes>
constexpr std::uint32_t little_endian_32(const std::array<std::uint8_t, kBytes>& digest,
                                         std::size_t index) {
  static_assert(kBytes >= 16);
  const std::size_t at = 4 * index;
  return std::uint32_t{digest[at]} | std::uint32_t{digest[at + 1]} << 8U |
         std::uint32_t{digest[at + 2]} << 16U | std::uint32_t{digest[at + 3]} << 24U;
}

// The first eight bytes, big endian: the upper 64 bits of the digest as a number.
template <std::size_t kBytes>
constexpr std::uint64_t upper_64(const std::array<std::uint8_t, kBytes>& digest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8U | digest[i];
  return value;
}

}  // namespace cleave::ring
