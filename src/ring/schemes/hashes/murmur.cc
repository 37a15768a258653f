#include "ring/schemes/hashes/murmur.h"

#include <bit>

#include "ring/schemes/hashes/little_endian.h"

namespace cleave::ring {
namespace {

constexpr std::uint64_t kMix1 = 0x87C37B91114253D5U;  // of MurmurHash3_x64_128
constexpr std::uint64_t kMix2 = 0x4CF5AD432745937FU;

constexpr std::uint64_t mixed_first(std::uint64_t value) {
  return std::rotl(value * kMix1, 31) * kMix2;
}

constexpr std::uint64_t mixed_second(std::uint64_t value) {
  return std::rotl(value * kMix2, 33) * kMix1;
}

constexpr std::uint64_t final_mix_64(std::uint64_t value) {
  value = (value ^ (value >> 33U)) * 0xFF51AFD7ED558CCDU;
  value = (value ^ (value >> 33U)) * 0xC4CEB9FE1A85EC53U;
  return value ^ (value >> 33U);
}

constexpr std::uint32_t mixed_32(std::uint32_t value) {
  return std::rotl(value * 0xCC9E2D51U, 15) * 0x1B873593U;
}

// At most eight bytes, each sign-extended to 64 bit before it is shifted to its place.
std::uint64_t load_signed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is what is wanted
    const auto byte = static_cast<std::int64_t>(static_cast<std::int8_t>(bytes[i]));
    value ^= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  return value;
}

}  // namespace

std::uint32_t murmur2_32(std::string_view bytes, std::uint32_t seed) {
  constexpr std::uint32_t kMix = 0x5BD1E995U;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(bytes.size());
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    std::uint32_t block = load_32(bytes) * kMix;
    block = (block ^ (block >> 24U)) * kMix;
    hash = (hash * kMix) ^ block;
  }
  if (!bytes.empty()) {
    hash = (hash ^ static_cast<std::uint32_t>(load_bytes(bytes, bytes.size()))) * kMix;
  }
  hash = (hash ^ (hash >> 13U)) * kMix;
  return hash ^ (hash >> 15U);
}

std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kMix = 0xC6A4A7935BD1E995U;
  constexpr unsigned kShift = 47;
  std::uint64_t hash = seed ^ (bytes.size() * kMix);
  const std::string_view all = bytes;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t block = load_64(bytes) * kMix;
    block = (block ^ (block >> kShift)) * kMix;
    hash = (hash ^ block) * kMix;
  }
  if (!bytes.empty()) hash = (hash ^ load_tail(all, bytes.size())) * kMix;
  hash = (hash ^ (hash >> kShift)) * kMix;
  return hash ^ (hash >> kShift);
}

std::uint32_t murmur3_32(std::string_view bytes, std::uint32_t seed) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::uint32_t hash = seed;
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    hash = std::rotl(hash ^ mixed_32(load_32(bytes)), 13) * 5 + 0xE6546B64U;
  }
  hash ^= mixed_32(static_cast<std::uint32_t>(load_bytes(bytes, bytes.size())));
  hash ^= size;
  hash = (hash ^ (hash >> 16U)) * 0x85EBCA6BU;
  hash = (hash ^ (hash >> 13U)) * 0xC2B2AE35U;
  return hash ^ (hash >> 16U);
}

Hash128 cassandra_murmur3(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    first = (std::rotl(first ^ mixed_first(load_64(bytes)), 27) + second) * 5 + 0x52DCE729U;
    second =
        (std::rotl(second ^ mixed_second(load_64(bytes.substr(8))), 31) + first) * 5 + 0x38495AB5U;
  }
  if (bytes.size() > 8) second ^= mixed_second(load_signed(bytes.substr(8)));
  if (!bytes.empty()) first ^= mixed_first(load_signed(bytes.substr(0, 8)));
  first ^= size;
  second ^= size;
  first += second;
  second += first;
  first = final_mix_64(first);
  second = final_mix_64(second);
  first += second;
  second += first;
  return {first, second};
}

}  // namespace cleave::ring
