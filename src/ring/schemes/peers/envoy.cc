// Envoy 1.40.0: envoy-ring and envoy-maglev (HTTP, hash policy on a header), envoy-redis
// (redis_proxy over either).
//
//   host    envoy.lb.hash_key of its metadata, else "ip:port": the node's name, as it is
//   ring    points: XX_HASH (XXH64, seed 0) or MURMUR_HASH_2 (MurmurHash64A, seed 0xc70f6907) of
//           "host_i"; as many as the scale says, see ring_points; first point at or above
//   maglev  Maglev (Eisenbud et al., NSDI 2016), weighted, hosts in the order of their names'
//           bytes; offset XXH64 mod M, skip XXH64 seed 1 mod (M - 1) + 1
//   key     HTTP: XXH64, whatever the ring's hash; redis_proxy: MurmurHash64A, seed 0xc70f6907, of
//           the hash tag if enable_hashtagging
//   empty   HTTP: such a header gives no hash
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "ring/hash_tag.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/hashes/xxh64.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/numbered_text.h"

namespace cleave::ring {
namespace {

constexpr std::uint64_t kMurmurSeed = 0xC70F6907;
constexpr std::uint64_t kTableSizeMax = 5'000'011;  // Envoy's own limit, a prime

using PointHash = std::uint64_t (*)(std::string_view);

std::uint64_t xx_hash(std::string_view bytes) { return xxh64(bytes); }
std::uint64_t murmur_hash_2(std::string_view bytes) { return murmur64a(bytes, kMurmurSeed); }

constexpr std::array<Choice<PointHash>, 2> kPointHashes = {
    {{"XX_HASH", xx_hash}, {"MURMUR_HASH_2", murmur_hash_2}}};

// Shares as Envoy computes them, in doubles: the sums below depend on every rounding.
std::vector<double> shares_of(std::span<const PlacedNode> nodes) {
  const auto total = static_cast<double>(weight_sum(nodes));
  std::vector<double> shares;
  for (const PlacedNode& node : nodes) shares.push_back(node.weight / total);
  return shares;
}

// The scale makes the lightest host's points a whole number and the ring at least min_ring long.
// Each host gets points while fewer are laid than its and its predecessors' shares add up to.
std::vector<CirclePoint> ring_points(OptionReader& options, std::span<const PlacedNode> nodes) {
  const PointHash hash = options.choice<PointHash>("hash", kPointHashes);
  const std::uint64_t min_ring =
      options.number({.name = "min_ring", .fallback = 1'024, .min = 1, .max = kPlacedPointsMax});
  const std::vector<double> shares = shares_of(nodes);
  const double lightest = std::ranges::min(shares);
  const double scale = std::min(std::ceil(lightest * static_cast<double>(min_ring)) / lightest,
                                static_cast<double>(kPlacedPointsMax));
  std::vector<CirclePoint> points;
  double laid = 0;
  double wanted = 0;
  for (std::uint32_t host = 0; host < nodes.size(); ++host) {
    wanted += scale * shares[host];
    NumberedText text(nodes[host].name + "_");
    for (; laid < wanted; ++laid, text.next()) points.push_back({hash(text.text()), host});
  }
  return points;
}

bool is_prime(std::uint64_t number) {
  if (number < 2) return false;
  for (std::uint64_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) return false;
  }
  return true;
}

// A host that fills the table: it walks its own permutation of the entries.
struct Filler {
  std::uint32_t node;
  double share;
  double target;
  std::uint64_t entry;  // the next one it wants
  std::uint64_t skip;
};

std::vector<Filler> fillers_of(std::span<const PlacedNode> nodes, std::uint64_t size) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::string_view(nodes[i].name); });
  const std::vector<double> shares = shares_of(nodes);
  std::vector<Filler> fillers;
  for (const std::uint32_t node : order) {
    const std::string& name = nodes[node].name;
    fillers.push_back({.node = node,
                       .share = shares[node],
                       .target = 0,
                       .entry = xxh64(name) % size,
                       .skip = xxh64(name, 1) % (size - 1) + 1});
  }
  return fillers;
}

// Turns go round; a host of less than the largest share is left out of those for which its share
// has not added up yet.
std::vector<std::uint32_t> maglev_table(std::span<const PlacedNode> nodes, std::uint64_t size) {
  CHECK(size > 1);
  constexpr std::uint32_t kFree = 0xFFFFFFFFU;
  std::vector<Filler> fillers = fillers_of(nodes, size);
  const double largest = std::ranges::max(fillers, {}, &Filler::share).share;
  std::vector<std::uint32_t> table(size, kFree);
  std::uint64_t filled = 0;
  for (std::uint64_t turn = 1; filled < size; ++turn) {
    for (Filler& filler : fillers) {
      if (filled == size) break;
      if (static_cast<double>(turn) * filler.share < filler.target) continue;
      filler.target += largest;
      while (table[filler.entry] != kFree) filler.entry = (filler.entry + filler.skip) % size;
      table[filler.entry] = filler.node;
      ++filled;
    }
  }
  return table;
}

Layout ring_layout(OptionReader& options, std::span<const PlacedNode> nodes, Hash64 key_hash) {
  return circle_layout_64(std::move(key_hash), ring_points(options, nodes));
}

Layout maglev_layout(OptionReader& options, std::span<const PlacedNode> nodes, Hash64 key_hash) {
  const std::uint64_t size =
      options.number({.name = "table_size", .fallback = 65'537, .min = 2, .max = kTableSizeMax});
  if (!is_prime(size)) {
    options.refuse_value("table_size", std::to_string(size), "want a prime number");
    return {};
  }
  // At most as many turns as the heaviest host gets entries; each looks at every host.
  const std::uint32_t heaviest = std::ranges::max(nodes, {}, &PlacedNode::weight).weight;
  if (!options.fits(nodes.size() * size / weight_sum(nodes) * heaviest / 256)) return {};
  return table_layout(std::move(key_hash), maglev_table(nodes, size), Tokens::kFixed);
}

Layout http_ring(OptionReader& options, std::span<const PlacedNode> nodes) {
  return without_empty_key(ring_layout(options, nodes, xx_hash));
}

Layout http_maglev(OptionReader& options, std::span<const PlacedNode> nodes) {
  return without_empty_key(maglev_layout(options, nodes, xx_hash));
}

enum class Balancer : std::uint8_t { kRing, kMaglev };

constexpr std::array<Choice<Balancer>, 3> kBalancers = {{{"ring_hash", Balancer::kRing},
                                                         {"maglev", Balancer::kMaglev},
                                                         {"consistent", Balancer::kRing}}};

constexpr std::array<Choice<bool>, 5> kTags = {
    {{"", false}, {"{}", true}, {"true", true}, {"false", false}, {"none", false}}};

Layout redis(OptionReader& options, std::span<const PlacedNode> nodes) {
  const Hash64 hash = [tagged = options.choice<bool>("hash_tag", kTags)](std::string_view key) {
    return murmur_hash_2(tagged ? hash_tag(key) : key);
  };
  return options.choice<Balancer>("method", kBalancers) == Balancer::kRing
             ? ring_layout(options, nodes, hash)
             : maglev_layout(options, nodes, hash);
}

}  // namespace

std::vector<SchemeRow> envoy_schemes() {
  const std::string_view peer = "Envoy 1.40.0";
  const OptionText hash{"hash", "of the ring's points: XX_HASH (default), MURMUR_HASH_2"};
  const OptionText min_ring{"min_ring", "minimum_ring_size; default 1024"};
  const OptionText table_size{"table_size", "a prime; default 65537"};
  return {{{"envoy-ring", peer, {hash, min_ring}}, http_ring},
          {{"envoy-maglev", peer, {table_size}}, http_maglev},
          {{"envoy-redis",
            peer,
            {{"method", "ring_hash (default), maglev"},
             hash,
             {"hash_tag", "{}: enable_hashtagging; default: none"},
             min_ring,
             table_size}},
           redis}};
}

}  // namespace cleave::ring
