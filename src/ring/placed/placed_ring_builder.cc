#include "ring/placed/placed_ring_builder.h"

#include "base/check.h"

namespace cleave::ring {

Result<PlacedRingBuilder> PlacedRingBuilder::start(PlacedRing ring) {
  auto builder = PlacementBuilder::start(ring.scheme(), placed_nodes(ring.nodes()));
  if (!builder) return std::unexpected(builder.error());
  return PlacedRingBuilder(std::move(ring), std::move(*builder));
}

Result<void> PlacedRingBuilder::add(const RingNode& node) {
  if (auto added = builder_.add({node.name, node.weight}); !added) return added;
  RingSpec changed = ring_.spec();
  changed.nodes.push_back(node);
  auto ring = PlacedRing::make(changed, builder_.placement());
  if (!ring) {  // a name or a rack that is no text
    CHECK(builder_.remove(node.name));
    return std::unexpected(ring.error());
  }
  ring_ = std::move(*ring);
  return {};
}

Result<void> PlacedRingBuilder::remove(std::string_view name) {
  if (auto removed = builder_.remove(name); !removed) return removed;
  auto ring = PlacedRing::make(without_node(ring_.spec(), name), builder_.placement());
  CHECK(ring);  // what is left was good before
  ring_ = std::move(*ring);
  return {};
}

Result<void> PlacedRingBuilder::set_weight(std::string_view name, std::uint32_t weight) {
  if (auto set = builder_.set_weight(name, weight); !set) return set;
  const auto index = ring_.index_of(name);
  CHECK(index);  // both know the same nodes
  RingSpec changed = ring_.spec();
  changed.nodes[*index].weight = weight;
  auto ring = PlacedRing::make(changed, builder_.placement());
  CHECK(ring);  // the builder took the weight, and the rest was good before
  ring_ = std::move(*ring);
  return {};
}

}  // namespace cleave::ring
