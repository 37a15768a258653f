#include "ring/schemes/hashes/xxh64.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

namespace cleave::ring {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  const char* const start = bytes.data();
  const std::size_t size = bytes.size();
  // No view has bytes at null. The static analyzer has to be told, or follows one into xxhash.h.
  if (start == nullptr && size != 0) std::unreachable();
  return XXH64(start, size, seed);
}

}  // namespace cleave::ring
