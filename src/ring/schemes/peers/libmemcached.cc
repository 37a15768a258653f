// libmemcached 1.1.4: libmemcached-ketama, -ketama-weighted, -spy, -modula.
//
//   ketama            (CONSISTENT, CONSISTENT_KETAMA) 100 points a node, the key hash of "name-i"
//   ketama-weighted   points: MD5 of "name-i", four each, as many texts as ketama_counts says
//   spy               as ketama, but of "/name:port-i", the port always there
//   modula            hash mod nodes; weights are ignored
//   names             "host", or "host:port" if the port is not 11211
//   weights           one above 1 turns ketama and spy to the weighted points
//   tie               the server that stands first
#include <algorithm>

#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/numbered_text.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kPlainPoints = 100;  // of a node

constexpr std::array<Choice<KeyHash32>, 10> kLibmemcachedHashes = {{{"default", one_at_a_time},
                                                                    {"md5", md5_32},
                                                                    {"crc", crc32_upper_15},
                                                                    {"fnv1_64", fnv1_64},
                                                                    {"fnv1a_64", fnv1a_64},
                                                                    {"fnv1_32", fnv1_32},
                                                                    {"fnv1a_32", fnv1a_32},
                                                                    {"murmur", murmur},
                                                                    {"jenkins", jenkins},
                                                                    {"murmur3", murmur3}}};

KeyHash32 read_hash(OptionReader& options, KeyHash32 fallback) {
  return options.given("hash") ? options.choice<KeyHash32>("hash", kLibmemcachedHashes) : fallback;
}

std::string plain_stem(std::string_view name) {
  return std::string(without_port(name, kMemcachedPort));
}

std::string spy_stem(std::string_view name) { return "/" + with_port(name, kMemcachedPort); }

using Stem = std::string (*)(std::string_view name);

Layout weighted_circle(OptionReader& options, std::span<const PlacedNode> nodes, KeyHash32 hash,
                       Stem stem) {
  std::vector<CirclePoint> points;
  if (!options.fits(ketama_points_max(nodes.size()))) return {};
  const std::vector<std::uint32_t> counts = ketama_counts(nodes);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    add_md5_points({stem(nodes[i].name), counts[i], i}, points);
  }
  return circle_layout_32(hash, std::move(points));
}

Layout plain_circle(OptionReader& options, std::span<const PlacedNode> nodes, KeyHash32 hash,
                    Stem stem) {
  std::vector<CirclePoint> points;
  if (!options.fits(nodes.size() * kPlainPoints)) return {};
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string text = stem(nodes[i].name) + "-";
    add_numbered_points({.stem = text, .count = kPlainPoints, .node = i}, hash, points);
  }
  return circle_layout_32(hash, std::move(points));
}

Layout circle(OptionReader& options, std::span<const PlacedNode> nodes, Stem stem) {
  const KeyHash32 hash = read_hash(options, one_at_a_time);
  return all_of_weight_one(nodes) ? plain_circle(options, nodes, hash, stem)
                                  : weighted_circle(options, nodes, hash, stem);
}

Layout ketama(OptionReader& options, std::span<const PlacedNode> nodes) {
  return circle(options, nodes, plain_stem);
}

Layout spy(OptionReader& options, std::span<const PlacedNode> nodes) {
  return circle(options, nodes, spy_stem);
}

Layout ketama_weighted(OptionReader& options, std::span<const PlacedNode> nodes) {
  return weighted_circle(options, nodes, read_hash(options, md5_32), plain_stem);
}

Layout modula(OptionReader& options, std::span<const PlacedNode> nodes) {
  std::vector<std::uint32_t> table(nodes.size());
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = i;
  return table_layout(read_hash(options, one_at_a_time), table, Tokens::kOfNodes);
}

}  // namespace

std::vector<SchemeRow> libmemcached_schemes() {
  const std::string_view peer = "libmemcached 1.1.4";
  const OptionText hash{"hash",
                        "default (one at a time), md5, crc, fnv1_64, fnv1a_64, fnv1_32, fnv1a_32, "
                        "murmur, jenkins, murmur3"};
  const OptionText hash_md5{"hash",
                            "md5 (default of this scheme), and those of libmemcached-ketama"};
  return {{{"libmemcached-ketama", peer, {hash}}, ketama},
          {{"libmemcached-ketama-weighted", peer, {hash_md5}}, ketama_weighted},
          {{"libmemcached-spy", peer, {hash}}, spy},
          {{"libmemcached-modula", peer, {hash}}, modula}};
}

}  // namespace cleave::ring
