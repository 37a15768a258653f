// Austin Appleby's Murmur hashes (public domain, github.com/aappleby/smhasher), little endian.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::ring {

// MurmurHash2, 32 bit.
std::uint32_t murmur2_32(std::string_view bytes, std::uint32_t seed);

// MurmurHash64A.
std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed);

// MurmurHash3_x86_32.
std::uint32_t murmur3_32(std::string_view bytes, std::uint32_t seed);

// The two halves, first the one that most peers use alone.
struct Hash128 {
  std::uint64_t first;
  std::uint64_t second;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// MurmurHash3_x64_128 with seed 0 as Cassandra has it: the bytes of the tail are signed (a mistake
// of its first version, kept for ever: CASSANDRA-4940).
Hash128 cassandra_murmur3(std::string_view bytes);

}  // namespace cleave::ring
