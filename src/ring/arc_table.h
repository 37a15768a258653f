// Arcs that cover every token once, in 12 bytes an arc.
//
//   tokens   0 .......................... 2^64-1
//   firsts   | 0   | 1 |  2   |    3    |          where each arc begins
//   owners   | a   | b |  a   |    c    |
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/ids.h"
#include "ring/scheme.h"
#include "ring/token_range.h"

namespace cleave::ring {

// Both lists have one entry an arc. Invariant: `firsts` ascends from token 0; neighbours have
// different owners.
struct ArcTable {
  std::vector<Token> firsts;
  std::vector<NodeId> owners;
};

// Arc `at` of such lists. Requires: at < their length.
inline Arc arc_at(std::span<const Token> firsts, std::span<const NodeId> owners, std::size_t at) {
  const bool is_last = at + 1 == firsts.size();
  const Token last = is_last ? kLastToken : Token{firsts[at + 1].value() - 1};
  return {{firsts[at], last}, owners[at]};
}

}  // namespace cleave::ring
