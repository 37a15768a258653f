#include "convert/pool/ring_summary.h"

namespace cleave::convert {

RingSummary summary_of(const ring::Document& document) {
  return {.pool = document.pool,
          .scheme = document.scheme,
          .nodes = document.nodes,
          .cuts = document.cuts.size(),
          .moves = document.moves.size()};
}

Pool pool_of(const RingSummary& ring) {
  Pool pool;
  pool.name = ring.pool;
  pool.scheme = ring.scheme;
  for (const ring::Node& node : ring.nodes) {
    if (node.state != ring::NodeState::kActive) continue;
    PoolNode& added = pool.nodes.emplace_back();
    added.name = node.name;
    added.weight = node.weight;
    added.hash_key = node.hash_key;
    added.position =
        node.id.value() - 1;  // as ring/document/base_ring.h: it stays when others leave
    added.rack = node.members.front().rack;
    for (const ring::Member& member : node.members) added.members.push_back(member.address);
  }
  return pool;
}

}  // namespace cleave::convert
