// The text form of a ring that the library hands out: JSON, versioned (docs/ring-library.md).
//
//   {"format":1,"scheme":"nginx","options":{"method":"consistent"},
//    "nodes":[{"name":"a","weight":1,"rack":"","datacenter":""}],
//    "cuts":[{"range":["0000000000000000","00000000ffffffff"],"node":"a"}]}
//
// Pure. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ring/placed/placed_ring.h"

namespace cleave::ring {

inline constexpr std::uint64_t kRingTextFormat = 1;
// Above what the largest ring needs, so that every ring round-trips.
inline constexpr std::size_t kRingTextBytesMax = std::size_t{256} << 20U;

// Canonical, one line: the same ring gives the same bytes. Tokens are 16 hexadecimal digits.
std::string to_text(const PlacedRing& ring);

// Gives the same ring again. Errors: kInvalid with the place of the mistake ("nodes[3].weight"),
// also for a field that is unknown or given twice and for another format; those of
// PlacedRing::make; kExhausted for more than kRingTextBytesMax bytes.
Result<PlacedRing> parse_ring(std::string_view text);

}  // namespace cleave::ring
