#include "ring/schemes/hashes/crc.h"

#include <array>

namespace cleave::ring {
namespace {

constexpr std::array<std::uint32_t, 256> crc32_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
    table[i] = rest;
  }
  return table;
}

constexpr std::array<std::uint16_t, 256> crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t rest = i << 8U;
    for (int bit = 0; bit < 8; ++bit) rest = (rest << 1U) ^ ((rest & 0x8000U) != 0 ? 0x1021U : 0U);
    table[i] = static_cast<std::uint16_t>(rest);
  }
  return table;
}

constexpr auto kCrc32 = crc32_table();
constexpr auto kCrc16 = crc16_table();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t rest = ~before;
  for (const char byte : bytes) {
    rest = kCrc32[(rest ^ static_cast<std::uint8_t>(byte)) & 0xFFU] ^ (rest >> 8U);
  }
  return ~rest;
}

std::uint32_t crc32(std::string_view bytes) { return crc32(bytes, 0); }

std::uint32_t crc32_upper_15(std::string_view bytes) { return (crc32(bytes) >> 16U) & 0x7FFFU; }

std::uint32_t crc16_wide(std::string_view bytes) {
  std::uint32_t rest = 0;
  for (const char byte : bytes) {
    rest = (rest << 8U) ^ kCrc16[((rest >> 8U) ^ static_cast<std::uint8_t>(byte)) & 0xFFU];
  }
  return rest;
}

// The bits above the 16th never come back down, so shortening once at the end is the same.
std::uint16_t crc16(std::string_view bytes) {
  return static_cast<std::uint16_t>(crc16_wide(bytes));
}

}  // namespace cleave::ring
