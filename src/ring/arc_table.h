// Arcs that cover every token once, in 12 bytes an arc.
//
//   tokens   0 .......................... 2^64-1
//   firsts   | 0   | 1 |  2   |    3    |          where each arc begins
//   owners   | a   | b |  a   |    c    |
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "ring/token_range.h"

namespace cleave::ring {

// One piece of the base ring: [previous point + 1, point] belongs to `node`.
struct Arc {
  TokenRange range;
  NodeId node;

  friend bool operator==(const Arc&, const Arc&) = default;
};

// Both lists have one entry an arc. Invariant: `firsts` ascends from token 0; neighbours have
// different owners.
struct ArcTable {
  std::vector<Token> firsts;
  std::vector<NodeId> owners;
};

// Arc `at` of such lists. Requires: at < their length.
inline Arc arc_at(std::span<const Token> firsts, std::span<const NodeId> owners, std::size_t at) {
  CHECK(at < firsts.size() && firsts.size() == owners.size());
  const bool is_last = at + 1 == firsts.size();
  const Token last = is_last ? kLastToken : Token{firsts[at + 1].value() - 1};
  return {{firsts[at], last}, owners[at]};
}

// Lays arcs one after another, from token 0 on; joins neighbours of one owner.
class ArcWriter {
 public:
  // `expected`: how many, so that memory is taken once.
  explicit ArcWriter(std::size_t expected) {
    arcs_.firsts.reserve(expected);
    arcs_.owners.reserve(expected);
  }

  // Everything up to and with `last` that is not laid yet belongs to NodeId{node + 1}.
  void until(std::uint64_t last, std::uint32_t node) {
    if (done_ || last < next_) return;
    if (arcs_.owners.empty() || arcs_.owners.back() != NodeId{node + 1}) {
      arcs_.firsts.emplace_back(next_);
      arcs_.owners.emplace_back(node + 1);
    }
    done_ = last == kLastToken.value();
    next_ = last + 1;
  }

  ArcTable take() {
    CHECK(done_ || arcs_.owners.empty());  // all tokens or none
    return std::move(arcs_);
  }

 private:
  ArcTable arcs_;
  std::uint64_t next_ = 0;
  bool done_ = false;
};

}  // namespace cleave::ring
