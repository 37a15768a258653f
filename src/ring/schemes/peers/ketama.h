// What the ketama family shares: points from MD5 digests, counts by weight, names with ports.
// Source: ketama (Richard Jones, 2007) as its descendants have it; rules in the schemes' files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ring/schemes/circle.h"
#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

inline constexpr std::uint32_t kKetamaTexts = 40;  // hashed texts a node, of equal weights
inline constexpr std::uint32_t kMd5Points = 4;     // points of one digest

// Texts of each node: floor(float32(weight / total) x 40 x nodes + 1e-10), rounded after each step
// to 32-bit floats as libmemcached, twemproxy and spymemcached do. Equal weights may give 39.
std::vector<std::uint32_t> ketama_counts(std::span<const PlacedNode> nodes);

// The same for npm hashring: floor(weight / total x texts x nodes), rounded after each step to
// 64-bit floats. Requires: texts x nodes below 2^32.
std::vector<std::uint32_t> npm_counts(std::span<const PlacedNode> nodes, std::uint64_t texts);

// An upper bound of the points of all nodes together.
constexpr std::uint64_t ketama_points_max(std::uint64_t nodes) {
  return nodes * kKetamaTexts * kMd5Points;
}

// The points of a node: the first `of_digest` words of the digests of "stem-0" to
// "stem-(texts - 1)".
struct DigestPoints {
  std::string_view stem;
  std::uint32_t texts;
  std::uint32_t node;
  std::uint32_t of_digest = kMd5Points;
};

void add_md5_points(const DigestPoints& added, std::vector<CirclePoint>& points);

// Those of one digest.
template <class Digest>
void add_words(const Digest& digest, const DigestPoints& added, std::vector<CirclePoint>& points) {
  for (std::uint32_t x = 0; x < added.of_digest; ++x) {
    points.push_back({little_endian_32(digest, x), added.node});
  }
}

// "host:port" apart; port empty when the name does not end in a colon and digits.
struct HostPort {
  std::string_view host;
  std::string_view port;
};

HostPort host_port(std::string_view name);

// The name as it is, without its port if that is `port`.
std::string_view without_port(std::string_view name, std::string_view port);

// The name as it is, with ":port" if it has none.
std::string with_port(std::string_view name, std::string_view port);

inline constexpr std::string_view kMemcachedPort = "11211";

}  // namespace cleave::ring
