// The layouts that most schemes share: circles, and a table. For the files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ring/schemes/circle.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/numbered_text.h"
#include "ring/schemes/scheme_row.h"

namespace cleave::ring {

// Hash of a key; both must be callable from any thread.
using Hash32 = std::function<std::uint32_t(std::string_view)>;
using Hash64 = std::function<std::uint64_t(std::string_view)>;

// Keys at their hash on a circle of the width. Whatever gives 32 or 64 bits of a key may be the
// hash; a lambda is compiled into `token_of`, where a function pointer is one more call a key.
template <class Hash>
KeyToToken key_token_32(Hash hash) {
  return [hash = std::move(hash)](std::string_view key) -> std::optional<Token> {
    return token_of_32(hash(key));
  };
}

// The same for a hash that is chosen as the ring is made: MD5 (md5_32) hashes many keys at once.
KeyToToken key_token_32(KeyHash32 hash);

template <class Hash>
KeyToToken key_token_64(Hash hash) {
  return [hash = std::move(hash)](std::string_view key) -> std::optional<Token> {
    return Token{hash(key)};
  };
}

// Requires: rules of the width; the points in the order in which the peer puts them.
Layout circle_layout(KeyToToken token_of, std::vector<CirclePoint> points,
                     const CircleRules& rules);

template <class Hash>
Layout circle_layout_32(Hash hash, std::vector<CirclePoint> points, const CircleRules& rules = {}) {
  return circle_layout(key_token_32(std::move(hash)), std::move(points), rules);
}

template <class Hash>
Layout circle_layout_64(Hash hash, std::vector<CirclePoint> points,
                        const CircleRules& rules = {.width = CircleRules::Width::k64}) {
  return circle_layout(key_token_64(std::move(hash)), std::move(points), rules);
}

// Points of a node at the hashes of its name, the separator and a number from 0 on.
struct NamedPoints {
  std::string_view separator;  // a literal
  std::uint64_t per_weight;
};

template <class Hash>
NodeCircle named_circle(const NamedPoints& named, Hash hash, const CircleRules& rules) {
  const auto add = [named, hash = std::move(hash)](const PlacedNode& node, std::uint32_t index,
                                                   std::vector<CirclePoint>& points) {
    const std::string stem = node.name + std::string(named.separator);
    add_numbered_points({.stem = stem, .count = named.per_weight * node.weight, .node = index},
                        hash, points);
  };
  return {.add_points = add, .points_per_weight = named.per_weight, .rules = rules};
}

// Keys in entry hash mod size of the table. Requires: not empty.
Layout table_layout(Hash64 hash, std::span<const std::uint32_t> table, Tokens tokens);

// The same layout, but the empty key has no place: the peer spreads it round robin.
Layout without_empty_key(Layout layout);

// Where node `index` stands in the peer's list, from 0.
std::uint32_t position_of(std::span<const PlacedNode> nodes, std::uint32_t index);

std::uint64_t weight_sum(std::span<const PlacedNode> nodes);
bool all_of_weight_one(std::span<const PlacedNode> nodes);

// Every node as often as its weight, in order. Empty, and refused, when that is too much.
std::vector<std::uint32_t> weighted_table(OptionReader& options, std::span<const PlacedNode> nodes);

// Refuses weights other than 1, for peers that know none.
void refuse_weights(OptionReader& options, std::span<const PlacedNode> nodes);

}  // namespace cleave::ring
