// Wide: 128 bits, for products and sums of 64-bit values.
#pragma once

namespace cleave {

// `__extension__` because ISO C++ has no such type and -Wpedantic would refuse it; both compilers do.
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): not with __extension__

}  // namespace cleave
