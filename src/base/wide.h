// Wide: 128 bits, for products and sums of 64-bit values.
#pragma once

namespace cleave {

// ISO C++ has no such type: without `__extension__`, -Wpedantic refuses it.
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

}  // namespace cleave
