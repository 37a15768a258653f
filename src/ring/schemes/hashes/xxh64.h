// XXH64 (xxHash specification 0.1.1).
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::ring {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace cleave::ring
