// nginx's configuration language: directives of words, ended by ';' or by a block of directives.
//
//   word      up to a blank, ';' or '{'; '#' begins a comment between words; "..." and '...' keep
//             all of that, `\` the next character; ${name} is part of a word
//   lua       the blocks of OpenResty's *_by_lua_block are passed over, braces counted
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave::convert {

// A directive, and what its braces hold.
struct NginxDirective {
  std::vector<std::string> words;  // at least one: its name
  std::size_t line = 0;            // from 1
  std::vector<NginxDirective> block = {};

  const std::string& name() const { return words.front(); }
};

// Errors: kInvalid, "FILE:LINE: what": a brace or quote too many or too few, a directive that does
// not end, blocks deeper than 64.
Result<std::vector<NginxDirective>> parse_nginx(std::string_view text, const std::string& file);

}  // namespace cleave::convert
