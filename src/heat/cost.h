// What one request costs its server: weight = a[command] + b x bytes, in nanoseconds of server time.
//
// a comes from the servers' own `INFO commandstats` (usec_per_call), refreshed by the leader and
// published to the routers; until then every command counts the same. b is the price of a byte
// copied and sent. Queue time and latency are never used: a slow node would look loaded by each
// request (docs/ARCHITECTURE.md, "Heat").
//
// Threads: values; share as const.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cleave::heat {

inline constexpr std::uint32_t kCommandNsDefault = 8'000;   // parse + execute + system calls
inline constexpr std::uint32_t kBytePicosDefault = 1'000;   // 1 ns a byte

// Nanoseconds of one request: `command_ns` + bytes. Saturates at 2^32 - 1.
constexpr std::uint32_t weight_ns(std::uint32_t command_ns, std::uint64_t bytes) {
  const std::uint64_t total = command_ns + bytes * kBytePicosDefault / 1'000;
  return total > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(total);
}

}  // namespace cleave::heat
