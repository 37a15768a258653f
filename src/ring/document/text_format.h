// Versions of the document's text form (docs/formats/ring-document.md).
#pragma once

#include <cstdint>

namespace cleave::ring {

inline constexpr std::uint32_t kTextFormatPlain = 2;      // of a vnode ring that expects nothing
inline constexpr std::uint32_t kTextFormatExpected = 3;   // of one that does
inline constexpr std::uint32_t kTextFormatScheme = 4;     // of a scheme's options, or hash keys
inline constexpr std::uint32_t kTextFormatLeftovers = 5;  // of a pool whose routers all know them

}  // namespace cleave::ring
