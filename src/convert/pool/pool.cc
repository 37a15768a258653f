#include "convert/pool/pool.h"

#include <array>

namespace cleave::convert {
namespace {

constexpr std::array<std::string_view, 5> kPeers = {"twemproxy", "nginx", "haproxy", "envoy",
                                                    "codis"};

}  // namespace

std::string_view to_string(Peer peer) { return kPeers.at(static_cast<std::size_t>(peer)); }

Result<Peer> parse_peer(std::string_view name) {
  std::string all;
  for (std::size_t i = 0; i < kPeers.size(); ++i) {
    if (kPeers.at(i) == name) return static_cast<Peer>(i);
    all += (i == 0 ? "" : ", ") + std::string(kPeers.at(i));
  }
  return fail(Code::kInvalid, "no peer is named '" + std::string(name) + "'; there are: " + all);
}

const std::string& hashed_name(const PoolNode& node) {
  return node.hash_key.empty() ? node.name : node.hash_key;
}

std::vector<ring::PlacedNode> placed_nodes(const Pool& pool) {
  std::vector<ring::PlacedNode> nodes;
  nodes.reserve(pool.nodes.size());
  for (const PoolNode& node : pool.nodes)
    nodes.push_back({hashed_name(node), node.weight, node.position});
  return nodes;
}

}  // namespace cleave::convert
