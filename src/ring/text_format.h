// Versions of the document's text form (docs/formats/ring-document.md, "Versions").
#pragma once

#include <cstdint>

namespace cleave::ring {

inline constexpr std::uint32_t kTextFormat = 2;        // the newest that `to_text` can write
inline constexpr std::uint32_t kTextFormatOldest = 2;  // and the oldest
inline constexpr std::uint32_t kTextMinReader = 2;     // the oldest reader that understands it

}  // namespace cleave::ring
