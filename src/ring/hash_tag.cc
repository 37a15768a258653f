#include "ring/hash_tag.h"

namespace cleave::ring {

std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  // An empty first tag ends the search: "{}{x}" is hashed whole, as every cluster client does.
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace cleave::ring
