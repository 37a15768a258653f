#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cleave {

std::uint64_t xxh3_64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace cleave
