// Versions of the document's text form (docs/formats/ring-document.md).
#pragma once

#include <cstdint>

namespace cleave::ring {

inline constexpr std::uint32_t kTextFormatPlain = 2;     // of a document that expects nothing
inline constexpr std::uint32_t kTextFormatExpected = 3;  // of one that does

}  // namespace cleave::ring
