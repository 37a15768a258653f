#include "app/config/scheme_arguments.h"

#include "app/files.h"

#include <fstream>
#include <iterator>

#include "base/to_number.h"

namespace cleave::app {

Result<ring::PlacedNode> parse_placed_node(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return ring::PlacedNode{.name = std::string(text)};
  const auto weight = to_number<std::uint32_t>(text.substr(equals + 1));
  if (weight) return ring::PlacedNode{std::string(text.substr(0, equals)), *weight};
  return fail(Code::kInvalid, "--node: want NAME or NAME=WEIGHT, got '" + std::string(text) + "'");
}

Result<std::vector<ring::PlacedNode>> parse_placed_nodes(const std::vector<std::string>& texts) {
  std::vector<ring::PlacedNode> nodes;
  for (const std::string& text : texts) {
    auto node = parse_placed_node(text);
    if (!node) return std::unexpected(node.error());
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

Result<ring::SchemeSpec> parse_scheme(const std::string& name,
                                      const std::vector<std::string>& options) {
  ring::SchemeSpec spec{.name = name};
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      return fail(Code::kInvalid, "--option: want name=value, got '" + option + "'");
    }
    const std::string key = option.substr(0, equals);
    if (!spec.options.emplace(key, option.substr(equals + 1)).second) {
      return fail(Code::kInvalid, "--option: '" + key + "' is given twice");
    }
  }
  return spec;
}

Result<std::vector<std::string>> read_keys(const std::string& path) {
  Result<std::ifstream> file = open_file(path);
  if (!file) return std::unexpected(file.error());
  std::vector<std::string> keys;
  std::string key;
  while (std::getline(*file, key)) keys.push_back(key);
  if (file->bad()) return fail(Code::kNotFound, "cannot read the keys of '" + path + "'");
  return keys;
}

std::string scheme_help() {
  std::string text;
  for (const ring::SchemeText& scheme : ring::schemes()) {
    text += "  " + std::string(scheme.name) + " (" + std::string(scheme.peer) + ")\n";
    for (const ring::OptionText& option : scheme.options) {
      text += "      " + std::string(option.name) + ": " + std::string(option.values) + "\n";
    }
  }
  return text;
}

}  // namespace cleave::app
