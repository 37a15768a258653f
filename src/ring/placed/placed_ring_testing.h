// Random rings for the tests of placed rings.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "ring/placed/placed_ring.h"

namespace cleave::ring::testing {

// Schemes whose tokens are fixed, with options of several kinds.
inline std::vector<SchemeSpec> fixed_schemes() {
  return {{.name = "vnode"},
          {.name = "twemproxy-ketama", .options = {{"hash", "fnv1a_64"}, {"hash_tag", "{}"}}},
          {.name = "libmemcached-ketama-weighted"},
          {.name = "nginx", .options = {{"method", "consistent"}}},
          {.name = "haproxy", .options = {{"method", "consistent"}}},
          {.name = "redis-cluster"},
          {.name = "cassandra"},
          {.name = "murmur64a-vnode", .options = {{"points", "20"}}},
          {.name = "envoy-maglev", .options = {{"table_size", "101"}}}};
}

// With up to `cuts_max` disjoint cuts, some at the ends of the tokens, some that touch.
inline RingSpec random_spec(Rng& rng, std::size_t cuts_max) {
  const std::vector<SchemeSpec> schemes = fixed_schemes();
  RingSpec spec{.scheme = schemes[rng.below(schemes.size())], .nodes = {}};
  for (std::uint64_t i = 1 + rng.below(5); i > 0; --i) {
    spec.nodes.push_back({.name = "10.0.0." + std::to_string(i) + ":6379",
                          .weight = 1 + static_cast<std::uint32_t>(rng.below(3)),
                          .rack = rng.chance(1, 2) ? "r\"" + std::to_string(i % 2) : "",
                          .datacenter = rng.chance(1, 3) ? "d\xC3\xA9" : ""});
  }
  std::uint64_t next = 0;
  for (std::uint64_t i = rng.below(cuts_max + 1); i > 0; --i) {
    const std::uint64_t first = next + (rng.chance(1, 3) ? 0 : rng.next() >> 6U);
    const std::uint64_t last = first + (rng.chance(1, 4) ? 0 : rng.next() >> 6U);
    spec.cuts.push_back(
        {{Token{first}, Token{last}}, spec.nodes[rng.below(spec.nodes.size())].name});
    next = last + 1;
  }
  if (!spec.cuts.empty() && rng.chance(1, 4)) spec.cuts.back().range.last = kLastToken;
  return spec;
}

// Requires: a spec that can be made.
inline PlacedRing made(const RingSpec& spec) {
  auto ring = PlacedRing::make(spec);
  EXPECT_TRUE(ring) << ring.error().message;
  return std::move(ring).value();
}

}  // namespace cleave::ring::testing
