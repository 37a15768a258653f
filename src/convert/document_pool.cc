#include "convert/document_pool.h"

namespace cleave::convert {

Pool pool_of(const ring::Document& document) {
  Pool pool;
  pool.name = document.pool;
  pool.scheme = document.scheme;
  for (const ring::Node& node : document.nodes) {
    if (node.state != ring::NodeState::kActive) continue;
    PoolNode& added = pool.nodes.emplace_back();
    added.name = node.name;
    added.weight = node.weight;
    added.hash_key = node.hash_key;
    added.position = node.id.value() - 1;  // as ring/base_ring.h: it stays when others leave
    added.rack = node.members.front().rack;
    for (const ring::Member& member : node.members) added.members.push_back(member.address);
  }
  return pool;
}

}  // namespace cleave::convert
