#include "ring/schemes/hashes/memcached_hash.h"

#include <algorithm>
#include <bit>

#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/little_endian.h"
#include "ring/schemes/hashes/murmur.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kBasis32 = 0x811C9DC5U;
constexpr std::uint32_t kPrime32 = 0x01000193U;
constexpr std::uint32_t kBasis64Lower = 0x84222325U;
constexpr std::uint32_t kPrime64Lower = 0x000001B3U;

constexpr std::uint32_t sign_extended(char byte) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int8_t>(byte)));
}

// FNV-1: multiply, then mix in. The lower 32 bits of a product need only those of its factors.
std::uint32_t fnv1(std::string_view key, std::uint32_t basis, std::uint32_t prime) {
  std::uint32_t hash = basis;
  for (const char byte : key) hash = (hash * prime) ^ sign_extended(byte);
  return hash;
}

// FNV-1a: the other way round.
std::uint32_t fnv1a(std::string_view key, std::uint32_t basis, std::uint32_t prime) {
  std::uint32_t hash = basis;
  for (const char byte : key) hash = (hash ^ sign_extended(byte)) * prime;
  return hash;
}

std::uint32_t seed_of_length(std::string_view key) {
  return 0xDEADBEEFU * static_cast<std::uint32_t>(key.size());
}

// lookup3's state, and its "mix" and "final".
struct Triple {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;

  // Up to twelve bytes.
  void add(std::string_view bytes) {
    const auto word = [&](std::size_t at) {
      const std::string_view rest = bytes.substr(std::min(at, bytes.size()));
      return static_cast<std::uint32_t>(load_bytes(rest, std::min<std::size_t>(4, rest.size())));
    };
    a += word(0);
    b += word(4);
    c += word(8);
  }

  void mix() {
    a -= c;
    a ^= std::rotl(c, 4);
    c += b;
    b -= a;
    b ^= std::rotl(a, 6);
    a += c;
    c -= b;
    c ^= std::rotl(b, 8);
    b += a;
    a -= c;
    a ^= std::rotl(c, 16);
    c += b;
    b -= a;
    b ^= std::rotl(a, 19);
    a += c;
    c -= b;
    c ^= std::rotl(b, 4);
    b += a;
  }

  void finish() {
    c ^= b;
    c -= std::rotl(b, 14);
    a ^= c;
    a -= std::rotl(c, 11);
    b ^= a;
    b -= std::rotl(a, 25);
    c ^= b;
    c -= std::rotl(b, 16);
    a ^= c;
    a -= std::rotl(c, 4);
    b ^= a;
    b -= std::rotl(a, 14);
    c ^= b;
    c -= std::rotl(b, 24);
  }
};

}  // namespace

std::uint32_t one_at_a_time(std::string_view key) {
  std::uint32_t hash = 0;
  for (const char byte : key) {
    hash += sign_extended(byte);
    hash += hash << 10U;
    hash ^= hash >> 6U;
  }
  hash += hash << 3U;
  hash ^= hash >> 11U;
  return hash + (hash << 15U);
}

std::uint32_t fnv1_32(std::string_view key) { return fnv1(key, kBasis32, kPrime32); }
std::uint32_t fnv1a_32(std::string_view key) { return fnv1a(key, kBasis32, kPrime32); }
std::uint32_t fnv1_64(std::string_view key) { return fnv1(key, kBasis64Lower, kPrime64Lower); }
std::uint32_t fnv1a_64(std::string_view key) { return fnv1a(key, kBasis64Lower, kPrime64Lower); }

std::uint32_t jenkins(std::string_view key) {
  const std::uint32_t start = 0xDEADBEEFU + static_cast<std::uint32_t>(key.size()) + 13;
  Triple state{start, start, start};
  for (; key.size() > 12; key.remove_prefix(12)) {
    state.add(key.substr(0, 12));
    state.mix();
  }
  if (key.empty()) return state.c;
  state.add(key);
  state.finish();
  return state.c;
}

std::uint32_t hsieh(std::string_view key) {
  std::uint32_t hash = 0;
  if (key.empty()) return hash;
  for (; key.size() >= 4; key.remove_prefix(4)) {
    hash += load_16(key);
    hash = (hash << 16U) ^ (load_16(key.substr(2)) << 11U) ^ hash;
    hash += hash >> 11U;
  }
  if (key.size() == 3) {
    hash += load_16(key);
    hash ^= hash << 16U;
    hash ^= sign_extended(key[2]) << 18U;
    hash += hash >> 11U;
  } else if (key.size() == 2) {
    hash += load_16(key);
    hash ^= hash << 11U;
    hash += hash >> 17U;
  } else if (key.size() == 1) {
    hash += static_cast<std::uint8_t>(key[0]);
    hash ^= hash << 10U;
    hash += hash >> 1U;
  }
  hash ^= hash << 3U;
  hash += hash >> 5U;
  hash ^= hash << 4U;
  hash += hash >> 17U;
  hash ^= hash << 25U;
  return hash + (hash >> 6U);
}

std::uint32_t murmur(std::string_view key) { return murmur2_32(key, seed_of_length(key)); }
std::uint32_t murmur3(std::string_view key) { return murmur3_32(key, seed_of_length(key)); }
std::uint32_t md5_32(std::string_view key) { return little_endian_32(md5(key), 0); }

}  // namespace cleave::ring
