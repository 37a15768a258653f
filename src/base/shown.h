// Bytes as people read them, and can give them back: one form for answers, terminals and logs.
//
//   printable UTF-8   as it is            user:1   straße
//   a backslash       \\                  a\\b
//   all other bytes   \xNN                \xff1, \x1b[2J, \x0a
//
// Other bytes are what is no UTF-8, control characters, and characters that have no width or turn
// the direction of writing: they would change what a terminal shows of the rest. Different bytes
// never look the same, and `from_shown(shown(bytes)) == bytes`.
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cleave {

// A key, or another text whose bytes matter.
std::string shown(std::string_view bytes);

// The bytes that are meant. A backslash that begins neither \\ nor \xNN stands for itself, so a
// plain text with one may be typed as it is.
std::string from_shown(std::string_view text);

// A sentence, whose bytes do not matter: as `shown`, but a backslash stays single.
std::string printable(std::string_view text);

// Characters of a printable text.
std::size_t characters(std::string_view text);

// At most so many characters (at least 3) of a printable text: what names differ in stands at their
// end as often as at their beginning, so the middle goes, "redis-pro…west-12".
std::string shortened(std::string_view text, std::size_t characters_max);

}  // namespace cleave
