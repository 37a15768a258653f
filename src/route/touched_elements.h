// Which elements of its key a write can touch, where its arguments say so (protocol rule 27).
//
// Pure. Threads: any. Cost: some comparisons of names, then O(arguments).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::route {

// Fields or members, unique, in the order of their bytes. Empty: the command may touch its keys as
// a whole, which is what is said of every command that is not known here. Where a command has two
// keys (SMOVE), the elements are those of both. Requires: args not empty.
std::vector<std::string> touched_elements(std::span<const std::string_view> args);

}  // namespace cleave::route
