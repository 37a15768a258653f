// Cyclic redundancy checks that peers place keys with.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::ring {

// CRC-32/ISO-HDLC (IEEE 802.3, zlib): 0xCBF43926 for "123456789".
std::uint32_t crc32(std::string_view bytes);

// The same in pieces: `crc32(a + b) == crc32(b, crc32(a))`.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before);

// Bits 16..30: how memcached clients shorten it (libmemcached, twemproxy, spymemcached, nginx).
std::uint32_t crc32_upper_15(std::string_view bytes);

// CRC-16/XMODEM (Redis Cluster specification): 0x31C3 for "123456789".
std::uint16_t crc16(std::string_view bytes);

// twemproxy's crc16: the same table, but the register is 32 bit wide and never shortened.
std::uint32_t crc16_wide(std::string_view bytes);

}  // namespace cleave::ring
