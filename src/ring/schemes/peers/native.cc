// cleave's own scheme and those of the demonstrations: vnode, murmur64a-vnode, java-vnode, modulo.
//
//   vnode            ring/vnode.h
//   murmur64a-vnode  500 points a weight at MurmurHash64A, seed 0x1234ABCD, of name + index; signed
//                    order, first point at or above; tie: the point put last, as in a map
//   java-vnode       150 points a weight at |String.hashCode()| of "name#VNindex"; likewise
//   modulo           |String.hashCode()| (or another hash) mod nodes
#include <array>

#include "base/hash.h"
#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/hashes/utf16.h"
#include "ring/schemes/hashes/xxh64.h"
#include "ring/schemes/layouts.h"
#include "ring/vnode.h"

namespace cleave::ring {
namespace {

constexpr std::uint64_t kSeed = 0x1234ABCD;

std::uint64_t murmur_value(std::string_view text) { return unsigned_order(murmur64a(text, kSeed)); }

// Signed 32-bit order in unsigned.
std::uint32_t java_value(std::string_view text) {
  return static_cast<std::uint32_t>(java_absolute_hash(text)) ^ 0x80000000U;
}

// Points of a weight; refused, 0, when all of them together are too many.
std::uint64_t read_points(OptionReader& options, std::span<const PlacedNode> nodes,
                          std::uint64_t fallback) {
  const std::uint64_t points =
      options.number({.name = "points", .fallback = fallback, .min = 1, .max = 1'000'000});
  return options.fits(points * weight_sum(nodes)) ? points : 0;
}

Layout vnode(OptionReader& options, std::span<const PlacedNode> nodes) {
  return {.token_of = [](std::string_view key) -> std::optional<Token> { return vnode_token(key); },
          .owners = named_circle(
              {.separator = "#", .per_weight = read_points(options, nodes, kPointsPerWeight)},
              xxh3_64, {.width = CircleRules::Width::k64})};
}

Layout murmur64a_vnode(OptionReader& options, std::span<const PlacedNode> nodes) {
  return {.token_of = key_token_64([](std::string_view key) { return murmur_value(key); }),
          .owners = named_circle(
              {.separator = "", .per_weight = read_points(options, nodes, 500)}, murmur_value,
              {.width = CircleRules::Width::k64, .tie = CircleRules::Tie::kLastPut})};
}

Layout java_vnode(OptionReader& options, std::span<const PlacedNode> nodes) {
  return {
      .token_of = key_token_32([](std::string_view key) { return java_value(key); }),
      .owners = named_circle({.separator = "#VN", .per_weight = read_points(options, nodes, 150)},
                             java_value, {.tie = CircleRules::Tie::kLastPut})};
}

using KeyHash64 = std::uint64_t (*)(std::string_view key);

std::uint64_t java_modulo(std::string_view key) {
  return static_cast<std::uint32_t>(java_absolute_hash(key));
}
std::uint64_t crc16_modulo(std::string_view key) { return crc16(key); }
std::uint64_t crc32_modulo(std::string_view key) { return crc32(key); }
std::uint64_t fnv1a_modulo(std::string_view key) { return fnv1a_64(key); }
std::uint64_t md5_modulo(std::string_view key) { return md5_32(key); }
std::uint64_t murmur_modulo(std::string_view key) { return murmur64a(key, kSeed); }
std::uint64_t xxh64_modulo(std::string_view key) { return xxh64(key); }
std::uint64_t xxh3_modulo(std::string_view key) { return xxh3_64(key); }

constexpr std::array<Choice<KeyHash64>, 8> kModuloHashes = {{{"java", java_modulo},
                                                             {"crc16", crc16_modulo},
                                                             {"crc32", crc32_modulo},
                                                             {"fnv1a_64", fnv1a_modulo},
                                                             {"md5", md5_modulo},
                                                             {"murmur64a", murmur_modulo},
                                                             {"xxh64", xxh64_modulo},
                                                             {"xxh3", xxh3_modulo}}};

Layout modulo(OptionReader& options, std::span<const PlacedNode> nodes) {
  refuse_weights(options, nodes);
  const std::vector<std::uint32_t> table = weighted_table(options, nodes);
  if (table.empty()) return {};
  return table_layout(options.choice<KeyHash64>("hash", kModuloHashes), table, Tokens::kOfNodes);
}

}  // namespace

std::vector<SchemeRow> native_schemes() {
  return {{{"vnode", "cleave", {{"points", "of a weight; default 128"}}}, vnode},
          {{"murmur64a-vnode", "demo image-index", {{"points", "of a weight; default 500"}}},
           murmur64a_vnode},
          {{"java-vnode", "demo churn", {{"points", "of a weight; default 150"}}}, java_vnode},
          {{"modulo",
            "hash % nodes",
            {{"hash", "java (default), crc16, crc32, fnv1a_64, md5, murmur64a, xxh64, xxh3"}}},
           modulo}};
}

}  // namespace cleave::ring
