// HAProxy 2.6.12, `balance hdr|hash|uri|url_param` with `hash-type`.
//
//   consistent   16 points a weight: full_hash(id x 4096 + j) for the server of that id; ids are 1,
//                2, ... in order, names are not hashed. The nearest point owns a value, the one
//                below if both are equally near.
//   map-based    hash mod the sum of weights, into a table filled by smooth weighted round robin
//   key          sdbm, djb2, wt6 or crc32; `avalanche` puts full_hash over it. As in the peer,
//                consistent without a named hash is sdbm with avalanche.
//   empty key    round robin, but `balance url_param` hashes an empty value (place_empty)
#include <array>
#include <bit>

#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/layouts.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kPointsPerWeight16 = 16;
constexpr std::uint32_t kPointsPerId = 4'096;
constexpr std::uint32_t kHaproxyWeightMax = 256;

// Red Hat's sdbm.
std::uint32_t sdbm(std::string_view key) {
  std::uint32_t hash = 0;
  for (const char byte : key) {
    hash = static_cast<std::uint8_t>(byte) + (hash << 6U) + (hash << 16U) - hash;
  }
  return hash;
}

// Daniel J. Bernstein.
std::uint32_t djb2(std::string_view key) {
  std::uint32_t hash = 5381;
  for (const char byte : key) hash = (hash << 5U) + hash + static_cast<std::uint8_t>(byte);
  return hash;
}

// Willy Tarreau, hash_wt6 (2006): two halves that turn each other.
std::uint32_t wt6(std::string_view key) {
  std::uint32_t left = 0xA53C965AU;
  std::uint32_t right = 0x5CA6953AU;
  int left_turn = 6;
  int right_turn = 18;
  for (const char byte : key) {
    left = ~(left ^ static_cast<std::uint8_t>(byte));
    right = ~(right + static_cast<std::uint8_t>(byte));
    const std::uint32_t turned = std::rotl(right, left_turn);
    right = std::rotl(left, right_turn);
    left = turned;
    const std::uint32_t turns = ((left >> 16U) ^ right) & 0xFFFFU;
    left_turn = static_cast<int>(turns & 0x1FU);
    right_turn = static_cast<int>(turns >> 11U);
  }
  return left ^ right;
}

// Bob Jenkins' full avalanche of 32 bits (burtleburtle.net/bob/hash/integer.html), times a
// constant.
std::uint32_t full_hash(std::uint32_t value) {
  value = (value + 0x7ED55D16U) + (value << 12U);
  value = (value ^ 0xC761C23CU) ^ (value >> 19U);
  value = (value + 0x165667B1U) + (value << 5U);
  value = (value + 0xD3A2646CU) ^ (value << 9U);
  value = (value + 0xFD7046C5U) + (value << 3U);
  value = (value ^ 0xB55A4F09U) ^ (value >> 16U);
  return value * 3'221'225'473U;
}

enum class HaproxyMethod : std::uint8_t { kMapBased, kConsistent };

constexpr std::array<Choice<HaproxyMethod>, 2> kHaproxyMethods = {
    {{"map-based", HaproxyMethod::kMapBased}, {"consistent", HaproxyMethod::kConsistent}}};

constexpr std::array<Choice<KeyHash32>, 4> kHaproxyHashes = {
    {{"sdbm", sdbm}, {"djb2", djb2}, {"wt6", wt6}, {"crc32", crc32}}};

Layout consistent(OptionReader& options, std::span<const PlacedNode> nodes, Hash32 hash) {
  if (!options.fits(kPointsPerWeight16 * weight_sum(nodes))) return {};
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t first = (position_of(nodes, i) + 1) * kPointsPerId;
    for (std::uint32_t j = 0; j < kPointsPerWeight16 * nodes[i].weight; ++j) {
      points.push_back({full_hash(first + j), i});
    }
  }
  return circle_layout_32(std::move(hash), std::move(points),
                          {.pick = CircleRules::Pick::kNearest});
}

// Each step gives every server its weight, takes the first of the largest score, and takes the sum
// of all weights from it. Scores count in whole sums, rounded towards zero.
std::vector<std::uint32_t> smooth_table(std::span<const PlacedNode> nodes) {
  const auto total = static_cast<std::int64_t>(weight_sum(nodes));
  std::vector<std::int64_t> scores(nodes.size());
  std::vector<std::uint32_t> table(static_cast<std::size_t>(total));
  for (std::uint32_t& entry : table) {
    std::int64_t best = -1;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      scores[i] += nodes[i].weight;
      const std::int64_t whole = (scores[i] + total) / total;
      if (whole > best) {
        best = whole;
        entry = i;
      }
    }
    scores[entry] -= total;
  }
  return table;
}

Layout map_based(OptionReader& options, std::span<const PlacedNode> nodes, Hash32 hash) {
  // Filling the table looks at every server for every entry.
  if (!options.fits(weight_sum(nodes) * nodes.size() / 64)) return {};
  return table_layout(std::move(hash), smooth_table(nodes), Tokens::kOfNodes);
}

Layout haproxy(OptionReader& options, std::span<const PlacedNode> nodes) {
  for (const PlacedNode& node : nodes) {
    if (node.weight <= kHaproxyWeightMax) continue;
    options.refuse(Code::kInvalid, "node '" + node.name + "': weight at most 256");
    return {};
  }
  const HaproxyMethod method = options.choice<HaproxyMethod>("method", kHaproxyMethods);
  const bool bare = method == HaproxyMethod::kConsistent && !options.given("hash");
  const bool avalanche = options.flag("avalanche", bare);
  Hash32 hash = options.choice<KeyHash32>("hash", kHaproxyHashes);
  if (avalanche) {
    hash = [plain = std::move(hash)](std::string_view key) { return full_hash(plain(key)); };
  }
  Layout layout = method == HaproxyMethod::kConsistent ? consistent(options, nodes, std::move(hash))
                                                       : map_based(options, nodes, std::move(hash));
  return options.flag("place_empty", false) ? layout : without_empty_key(std::move(layout));
}

}  // namespace

std::vector<SchemeRow> haproxy_schemes() {
  return {{{"haproxy",
            "HAProxy 2.6.12",
            {{"method", "map-based (default), consistent"},
             {"hash", "sdbm (default), djb2, wt6, crc32"},
             {"avalanche", "true, false; default: only for consistent without a hash"},
             {"place_empty", "true: the empty key is hashed, as url_param does; default: false"}}},
           haproxy}};
}

}  // namespace cleave::ring
