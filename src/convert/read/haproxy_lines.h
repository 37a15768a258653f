// HAProxy's configuration language: lines of words.
//
//   word      ended by a blank; "..." and '...' keep blanks and '#'; `\` keeps the next character;
//             '#' begins a comment wherever it stands
//   section   begins with a line whose first word is one of a few; what stands before belongs to
//             none
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave::convert {

// A line without its comment.
struct HaproxyLine {
  std::vector<std::string> words;  // at least one
  std::size_t line = 0;            // from 1
};

// A section and all up to the next.
struct HaproxySection {
  HaproxyLine head;  // "backend", its name, ...
  std::vector<HaproxyLine> lines;
};

// Errors: kInvalid, "FILE:LINE: what": a quote that is not closed, a line outside of any section,
// conditional blocks (.if).
Result<std::vector<HaproxySection>> parse_haproxy(std::string_view text, const std::string& file);

}  // namespace cleave::convert
