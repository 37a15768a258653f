// Versions of the document's text form (docs/formats/ring-document.md, "Versions").
#pragma once

#include <cstdint>

namespace cleave::ring {

inline constexpr std::uint32_t kTextFormat = 1;     // what `to_text` writes
inline constexpr std::uint32_t kTextMinReader = 1;  // the oldest reader that understands it
inline constexpr std::uint32_t kTextReader = 1;     // what `parse_document` understands

}  // namespace cleave::ring
