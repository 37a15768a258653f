// Peers that place keys into a constant number of slots, or tokens, and keep as state who owns
// which: redis-cluster, codis, cassandra. The options `slots` (slot_owners.h) and `tokens`
// (token_owners.h) say it; slots that nobody owns, and tokens that are not told, are spread evenly
// by weight.
//
// redis-cluster (redis-server 7.0.15): CRC-16/XMODEM of the hash tag, mod 16384; ranges as
//   `redis-cli --cluster create` gives them to its primaries. Token: slot << 50.
// codis 3: CRC-32 mod 1024 of what lies between the first '{' and the first '}' after it, even if
//   that is empty; slots in even ranges. Token: slot << 54.
// cassandra 4.1.5, Murmur3Partitioner: token ^ 2^63. A node owns from the previous token, not
//   included, to its own. Without the option one token a node, evenly spaced from the smallest one
//   on (the usual initial_token). The empty key has the smallest token, which no other key gets.
#include "base/wide.h"
#include "ring/hash_tag.h"
#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/peers/slot_owners.h"
#include "ring/schemes/peers/token_owners.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kRedisSlots = 16'384;
constexpr std::uint32_t kCodisSlots = 1'024;

Layout redis_cluster(OptionReader& options, std::span<const PlacedNode> nodes) {
  return table_layout([](std::string_view key) { return crc16(hash_tag(key)); },
                      slot_owners(options, nodes, kRedisSlots), Tokens::kFixed);
}

std::string_view codis_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  return close == std::string_view::npos ? key : key.substr(open + 1, close - open - 1);
}

Layout codis(OptionReader& options, std::span<const PlacedNode> nodes) {
  return table_layout([](std::string_view key) { return crc32(codis_tag(key)); },
                      slot_owners(options, nodes, kCodisSlots), Tokens::kFixed);
}

// In the order of tokens: the smallest one, which stands for "no token", is never a key's.
std::uint64_t cassandra_token(std::string_view key) {
  if (key.empty()) return 0;
  const std::uint64_t value = unsigned_order(cassandra_murmur3(key).first);
  return value == 0 ? kLastToken.value() : value;
}

std::vector<CirclePoint> even_points(std::span<const PlacedNode> nodes) {
  const Wide step = (Wide{1} << 64U) / weight_sum(nodes);
  std::vector<CirclePoint> points;
  std::uint64_t weight = 0;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) weight += nodes[i].weight;
    points.push_back({static_cast<std::uint64_t>(step * weight), i});
  }
  return points;
}

Layout cassandra(OptionReader& options, std::span<const PlacedNode> nodes) {
  const bool told = options.given("tokens").has_value();
  return circle_layout_64(cassandra_token,
                          told ? token_points(options, nodes) : even_points(nodes));
}

}  // namespace

std::vector<SchemeRow> slot_schemes() {
  const OptionText slots{"slots", "who owns which, NODE=FIRST-LAST,SLOT;NODE=...; default: even"};
  const OptionText tokens{
      "tokens",
      "who owns which, as nodetool prints them, NODE=TOKEN,TOKEN;NODE=...; default: even"};
  return {{{"redis-cluster", "redis-server 7.0.15", {slots}}, redis_cluster},
          {{"codis", "Codis 3", {slots}}, codis},
          {{"cassandra", "Cassandra 4.1.5", {tokens}}, cassandra}};
}

}  // namespace cleave::ring
