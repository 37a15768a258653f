// Comparing what is given with a secret, so that the time does not tell how much of it was right.
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <string_view>

namespace cleave {

// Looks at all of `given`, whatever differs. (That the lengths differ may be found out.)
inline bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned different = given.size() == wanted.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    different |= static_cast<unsigned char>(given[i] ^ other);
  }
  return different == 0;
}

}  // namespace cleave
