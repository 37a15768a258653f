// What `cleave locate --scheme` and `cleave ring` take from the command line: a scheme, nodes and
// keys.
//
// Threads: the main thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ring/schemes/placement.h"

namespace cleave::app {

// "NAME" or "NAME=WEIGHT": what stands behind the last '='. Errors: kInvalid, names the text.
Result<ring::PlacedNode> parse_placed_node(std::string_view text);

// Errors: those of the first bad text.
Result<std::vector<ring::PlacedNode>> parse_placed_nodes(const std::vector<std::string>& texts);

// Options are "name=value". Errors: kInvalid, also for an option given twice.
Result<ring::SchemeSpec> parse_scheme(const std::string& name,
                                      const std::vector<std::string>& options);

// One key a line, ended by a line feed (the last one may lack it); the bytes are taken as they are,
// an empty line is the empty key. Errors: kNotFound.
Result<std::vector<std::string>> read_keys(const std::string& path);

// All schemes with their options, for people.
std::string scheme_help();

}  // namespace cleave::app
