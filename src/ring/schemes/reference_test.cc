// Placements beside naive references: the rules of the schemes' headers, word for word, by a search
// through all points, entries or nodes. One reference a kind of scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/rng.h"
#include "ring/hash_tag.h"
#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/hashes/xxh64.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {
namespace {

using Nodes = std::vector<PlacedNode>;
using Owner = std::function<std::size_t(std::string_view key)>;

enum class Weights : std::uint8_t { kAny, kOne };

struct Kind {
  SchemeSpec spec;
  Weights weights;
  Owner (*reference)(const Nodes& nodes);
};

// A point of the node of that index.
template <class Value>
struct NaivePoint {
  Value value;
  std::size_t node;
};

// The first point at or above the value, else the smallest of all. Of equal points the one put
// first, or last.
enum class Tie : std::uint8_t { kFirst, kLast };

// Requires: there are points.
template <class Value>
std::size_t first_at_or_above(const std::vector<NaivePoint<Value>>& points, Value value, Tie tie) {
  const NaivePoint<Value>* above = nullptr;
  const NaivePoint<Value>* smallest = &points.front();
  const auto better = [&](const NaivePoint<Value>& point, const NaivePoint<Value>* best) {
    return best == nullptr || point.value < best->value ||
           (tie == Tie::kLast && point.value == best->value);
  };
  for (const NaivePoint<Value>& point : points) {
    if (better(point, smallest)) smallest = &point;
    if (point.value >= value && better(point, above)) above = &point;
  }
  return (above == nullptr ? smallest : above)->node;
}

Owner vnode_owner(const Nodes& nodes) {
  std::vector<NaivePoint<std::uint64_t>> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t j = 0; j < 5 * nodes[i].weight; ++j) {
      points.push_back({xxh3_64(nodes[i].name + "#" + std::to_string(j)), i});
    }
  }
  return [points](std::string_view key) {
    return first_at_or_above(points, xxh3_64(hash_tag(key)), Tie::kFirst);
  };
}

Owner murmur_vnode_owner(const Nodes& nodes) {
  const auto value = [](std::string_view text) {
    return static_cast<std::int64_t>(murmur64a(text, 0x1234ABCD));
  };
  std::vector<NaivePoint<std::int64_t>> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t j = 0; j < 5 * nodes[i].weight; ++j) {
      points.push_back({value(nodes[i].name + std::to_string(j)), i});
    }
  }
  return [=](std::string_view key) { return first_at_or_above(points, value(key), Tie::kLast); };
}

// The first point above the value, not at it; of 160 a weight.
Owner uhashring_owner(const Nodes& nodes) {
  std::vector<NaivePoint<std::uint64_t>> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t j = 0; j < 160 * nodes[i].weight; ++j) {
      points.push_back({upper_64(md5(nodes[i].name + "-" + std::to_string(j))), i});
    }
  }
  return [points](std::string_view key) {
    return first_at_or_above(points, upper_64(md5(key)) + 1, Tie::kLast);
  };
}

// MD5 points of 32 bits, 40 texts of four a node, nodes of weight one and one length of name.
Owner twemproxy_owner(const Nodes& nodes) {
  std::vector<NaivePoint<std::uint32_t>> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t j = 0; j < 40; ++j) {
      const Md5 digest = md5(nodes[i].name + "-" + std::to_string(j));
      for (std::size_t x = 0; x < 4; ++x) points.push_back({little_endian_32(digest, x), i});
    }
  }
  return [points](std::string_view key) {
    return first_at_or_above(points, fnv1a_64(key), Tie::kFirst);
  };
}

Owner modulo_owner(const Nodes& nodes) {
  return [size = nodes.size()](std::string_view key) { return xxh3_64(key) % size; };
}

Owner crc16_modulo_owner(const Nodes& nodes) {
  return [size = nodes.size()](std::string_view key) { return crc16(key) % size; };
}

// A table with every node as often as its weight.
Owner table_owner(const Nodes& nodes) {
  std::vector<std::size_t> table;
  for (std::size_t i = 0; i < nodes.size(); ++i) table.insert(table.end(), nodes[i].weight, i);
  return [table](std::string_view key) { return table[fnv1a_64(key) % table.size()]; };
}

// Slots in even ranges: node i ends at slots x (i + 1) / n, rounded half up.
Owner slot_owner(const Nodes& nodes) {
  return [size = nodes.size()](std::string_view key) {
    const std::uint64_t slot = crc16(hash_tag(key)) % 16'384;
    std::size_t node = 0;
    while (slot >= (std::size_t{2} * 16'384 * (node + 1) + size) / (2 * size)) ++node;
    return node;
  };
}

Owner rendezvous_owner(const Nodes& nodes) {
  return [nodes](std::string_view key) {
    std::size_t best = 0;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::uint64_t score = xxh64(hash_tag(key)) ^ xxh64(nodes[i].name);
      score ^= score >> 12U;
      score ^= score << 25U;
      score ^= score >> 27U;
      score *= 2'685'821'657'736'338'717U;
      if (i > 0 && score <= highest) continue;
      best = i;
      highest = score;
    }
    return best;
  };
}

// Maglev by its paper (NSDI 2016, section 3.4): hosts of one weight take turns, each takes the next
// entry of its permutation that is free.
Owner maglev_owner(const Nodes& nodes) {
  constexpr std::uint64_t kSize = 101;
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return nodes[i].name; });
  std::vector<std::optional<std::size_t>> table(kSize);
  std::vector<std::uint64_t> next(nodes.size());
  for (std::uint64_t filled = 0; filled < kSize;) {
    for (const std::size_t i : order) {
      const std::uint64_t offset = xxh64(nodes[i].name) % kSize;
      const std::uint64_t skip = xxh64(nodes[i].name, 1) % (kSize - 1) + 1;
      std::uint64_t entry = 0;
      do {
        entry = (offset + next[i]++ * skip) % kSize;
      } while (table[entry]);
      table[entry] = i;
      if (++filled == kSize) break;
    }
  }
  return [table](std::string_view key) { return *table[xxh64(key) % kSize]; };
}

std::vector<Kind> kinds() {
  return {
      {{.name = "vnode", .options = {{"points", "5"}}}, Weights::kAny, vnode_owner},
      {{.name = "murmur64a-vnode", .options = {{"points", "5"}}},
       Weights::kAny,
       murmur_vnode_owner},
      {{.name = "uhashring"}, Weights::kAny, uhashring_owner},
      {{.name = "twemproxy-ketama"}, Weights::kOne, twemproxy_owner},
      {{.name = "modulo", .options = {{"hash", "xxh3"}}}, Weights::kOne, modulo_owner},
      {{.name = "modulo", .options = {{"hash", "crc16"}}}, Weights::kOne, crc16_modulo_owner},
      {{.name = "twemproxy-modula"}, Weights::kAny, table_owner},
      {{.name = "redis-cluster"}, Weights::kOne, slot_owner},
      {{.name = "go-redis"}, Weights::kOne, rendezvous_owner},
      {{.name = "envoy-maglev", .options = {{"table_size", "101"}}}, Weights::kOne, maglev_owner}};
}

// Names in their order and of one length, which is also the order that twemproxy puts them in.
Nodes some_nodes(Rng& rng, Weights weights) {
  Nodes nodes(1 + rng.below(7));
  const std::string stem = "n" + std::to_string(1'000 + rng.below(9'000)) + "-";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = stem + std::to_string(i);
    if (weights == Weights::kAny) nodes[i].weight = 1 + static_cast<std::uint32_t>(rng.below(3));
  }
  return nodes;
}

// Any bytes, a text with a hash tag, or the text of a point.
std::string some_key(Rng& rng, const Nodes& nodes) {
  const std::string& name = nodes[rng.below(nodes.size())].name;
  const std::string number = std::to_string(rng.below(5));
  switch (rng.below(4)) {
    case 0: return "{" + number + "}.x" + number;
    case 1: return name + (rng.chance(1, 2) ? "-" : rng.chance(1, 2) ? "#" : "") + number;
    default: {
      std::string bytes(1 + rng.below(24), '\0');
      for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
      return bytes;
    }
  }
}

TEST(Reference, EveryKindOfSchemeFindsWhatANaiveSearchFinds) {
  for (const Kind& kind : kinds()) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(kind.spec.name + ", seed " + std::to_string(seed));
      Rng rng(seed);
      const Nodes nodes = some_nodes(rng, kind.weights);
      const auto placement = place(kind.spec, nodes);
      ASSERT_TRUE(placement);
      const Owner reference = kind.reference(nodes);
      for (int i = 0; i < 40; ++i) {
        const std::string key = some_key(rng, nodes);
        ASSERT_EQ((*placement)->owner(key), reference(key)) << key;
      }
    }
  }
}

// One arc holds the token of a key, and its owner is the key's.
TEST(Reference, EveryKeyHasExactlyOneOwner) {
  for (const SchemeText& scheme : schemes()) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(std::string(scheme.name) + ", seed " + std::to_string(seed));
      Rng rng(seed);
      const Nodes nodes = some_nodes(rng, Weights::kOne);
      const auto placement = place({.name = std::string(scheme.name)}, nodes);
      ASSERT_TRUE(placement);
      for (int i = 0; i < 5; ++i) {
        const std::string key =
            rng.chance(1, 5) ? std::to_string(rng.next()) : some_key(rng, nodes);
        const auto token = (*placement)->token_of(key);
        ASSERT_EQ((*placement)->owner(key).has_value(), token.has_value());
        if (!token) continue;
        std::vector<std::size_t> owners;
        for (const Arc& arc : (*placement)->arcs()) {
          if (arc.range.contains(*token)) owners.push_back(arc.node.value() - 1);
        }
        ASSERT_EQ(owners, std::vector<std::size_t>{*(*placement)->owner(key)});
      }
    }
  }
}

}  // namespace
}  // namespace cleave::ring
