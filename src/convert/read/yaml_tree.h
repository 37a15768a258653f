// Another program's YAML (or JSON, which is YAML) as a tree, with the line of each value.
//
// yaml-cpp says what is wrong by exceptions; none leaves this, but for count_documents. Threads:
// one owner.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave::convert {

// One key of a mapping.
struct YamlEntry {
  std::string key;
  YAML::Node value;
};

// How many documents the text has; 2 stands for more. In a text that begins with a comma yaml-cpp
// 0.7 finds empty documents without end, and YAML::LoadAll never returns: look here first, then
// take YAML::Load. Throws YAML::Exception.
std::size_t count_documents(const std::string& text);

// The one document of the text, a mapping or a list. Errors: kInvalid, "FILE:LINE: what", also for
// a key that is there twice, however deep, for more than a million values (aliases may repeat
// them), and for a value that stands in itself or deeper than 500.
Result<YAML::Node> load_yaml(std::string_view text, const std::string& file);

// From 1.
std::size_t line_of(const YAML::Node& node);

// In the order of the file; empty for what is no mapping.
std::vector<YamlEntry> entries_of(const YAML::Node& node);

// The value as it is written, without its quotes; empty for what is no scalar.
std::string text_of(const YAML::Node& node);

// A flag as yaml-cpp reads it: true, yes, on, y, whatever the case of the letters.
bool is_true(const YAML::Node& node);

// Where protobuf's JSON form is spoken, a key may be written in snake_case or lowerCamelCase.
// `snake` is the first; undefined when the mapping has neither, or is none.
YAML::Node find_field(const YAML::Node& node, std::string_view snake);

// The same along a path "a.b.c".
YAML::Node find_path(const YAML::Node& node, std::string_view path);

}  // namespace cleave::convert
