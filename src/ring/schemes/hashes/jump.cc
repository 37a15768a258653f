#include "ring/schemes/hashes/jump.h"

#include "base/check.h"

namespace cleave::ring {

std::uint64_t jump_bucket(std::uint64_t key, std::uint64_t buckets) {
  CHECK(buckets > 0);
  std::int64_t bucket = -1;
  std::int64_t next = 0;
  while (next < static_cast<std::int64_t>(buckets)) {
    bucket = next;
    key = key * 2'862'933'555'777'941'757U + 1;
    const double stretch =
        static_cast<double>(std::int64_t{1} << 31U) / static_cast<double>((key >> 33U) + 1);
    next = static_cast<std::int64_t>(static_cast<double>(bucket + 1) * stretch);
  }
  return static_cast<std::uint64_t>(bucket);
}

}  // namespace cleave::ring
