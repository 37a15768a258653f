// Arguments of an inline command, by the rules of Redis's sdssplitargs.
//
// Threads: a pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::wire {

// Cuts `line` at blanks; "..." takes \n \r \t \b \a \xHH and \<any>, '...' takes \' only; a closing
// quote must be followed by a blank or the end. Fills the first strings of `args` (their capacity
// is used again) and returns how many; nullopt: unbalanced quotes. Requires: no NUL in `line`.
std::optional<std::size_t> cut_inline(std::string_view line, std::vector<std::string>& args);

}  // namespace cleave::wire
