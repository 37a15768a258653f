// A ring of equal parts, for tests of what walks along arcs.
#pragma once

#include <cstdint>
#include <vector>

#include "ring/arc_table.h"

namespace cleave::ring::testing {

// The i-th part belongs to NodeId{owners[i]}. Requires: at least one.
inline std::vector<Arc> equal_arcs(const std::vector<std::uint32_t>& owners) {
  std::vector<Arc> arcs;
  const std::uint64_t part = kLastToken.value() / owners.size();
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Token last = i + 1 == owners.size() ? kLastToken : Token{(i + 1) * part - 1};
    arcs.push_back({{Token{i * part}, last}, NodeId{owners[i]}});
  }
  return arcs;
}

}  // namespace cleave::ring::testing
