// The 32-bit key hashes of the memcached world (libmemcached's hashkit, twemproxy). Where a byte is
// mixed in one at a time it is sign-extended: their keys are `char`.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::ring {

using KeyHash32 = std::uint32_t (*)(std::string_view key);

// Bob Jenkins, "A hash function for hash table lookup": one at a time.
std::uint32_t one_at_a_time(std::string_view key);

// Fowler/Noll/Vo (isthe.com/chongo/tech/comp/fnv). fnv1_64 is shortened to its lower 32 bits;
// fnv1a_64 runs in 32 bits from the lower halves of the 64-bit basis and prime, which is the same.
std::uint32_t fnv1_32(std::string_view key);
std::uint32_t fnv1a_32(std::string_view key);
std::uint32_t fnv1_64(std::string_view key);
std::uint32_t fnv1a_64(std::string_view key);

// Bob Jenkins, lookup3.c (2006): hashlittle, initval 13.
std::uint32_t jenkins(std::string_view key);

// Paul Hsieh, SuperFastHash, but from 0 instead of from the length.
std::uint32_t hsieh(std::string_view key);

// MurmurHash2 and MurmurHash3_x86_32 with seed 0xdeadbeef x length.
std::uint32_t murmur(std::string_view key);
std::uint32_t murmur3(std::string_view key);

// The first four bytes of the MD5, little endian.
std::uint32_t md5_32(std::string_view key);

}  // namespace cleave::ring
