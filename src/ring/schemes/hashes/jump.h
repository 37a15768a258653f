// Jump consistent hash: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm"
// (2014). The same numbers as Guava's consistentHash.
#pragma once

#include <cstdint>

namespace cleave::ring {

// The bucket of the key. Requires: 1 <= buckets <= 2^31. Cost: O(log buckets).
std::uint64_t jump_bucket(std::uint64_t key, std::uint64_t buckets);

}  // namespace cleave::ring
