// Which of the known placement schemes fits keys where they lie: for a pool whose ring does not
// find its data ("of 3,000 keys 2,006 are elsewhere; all are where modulo with hash crc32 puts
// them").
//
// Every scheme of schemes() is tried with the values of its options that real configurations have,
// with the pool's nodes in their order and weights, under each of their names.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ring/scheme_spec.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// The nodes of a pool under one kind of name.
struct NamedNodes {
  std::string what;  // for people: "their names", "their addresses"
  std::vector<PlacedNode> nodes;
};

// A scheme, and how many of the keys that were seen it would look for at another node.
struct SchemeFit {
  SchemeSpec scheme;
  std::string hashed;  // NamedNodes::what
  std::uint64_t keys = 0;
  std::uint64_t elsewhere = 0;

  friend bool operator==(const SchemeFit&, const SchemeFit&) = default;
};

// The schemes and options that are tried, in this order.
std::vector<SchemeSpec> searched_schemes();

class SchemeSearch {
 public:
  // `seen[i]`: keys that lie at node i of each of `names`.
  SchemeSearch(std::vector<NamedNodes> names, std::vector<std::vector<std::string>> seen);

  // Tries one more scheme; false when none is left. Cost: that of `place` (milliseconds for a
  // hundred nodes), and a hash for each key until it is worse than the best so far.
  bool step();
  // The best of those that were tried; of equals the first. Nothing when no key was seen.
  const std::optional<SchemeFit>& best() const { return best_; }

 private:
  void consider(const SchemeSpec& scheme, const NamedNodes& names);

  std::vector<NamedNodes> names_;
  std::vector<std::vector<std::string>> seen_;
  std::vector<SchemeSpec> schemes_;
  std::size_t next_ = 0;
  std::optional<SchemeFit> best_;
};

// "twemproxy-modula with hash crc32a, of their addresses".
std::string describe(const SchemeFit& fit);

}  // namespace cleave::ring
