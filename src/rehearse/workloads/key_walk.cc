#include "rehearse/workloads/key_walk.h"

#include <algorithm>

#include "base/hash.h"
#include "base/rng.h"

namespace cleave::rehearse {
namespace {

// Where in the walk a key comes: nothing to do with its token, nor with what the census draws.
std::uint64_t place_of(const balance::MetKey& key) { return Rng(~key.name_hash).next(); }

}  // namespace

void KeyWalk::set_scene(const Scene& scene) {
  keys_.clear();
  for (const SceneKey& each : scene.keys) {
    if (each.bytes == 0) continue;
    keys_.push_back({.name_hash = xxh3_64(each.name), .token = each.token, .bytes = each.bytes});
  }
  std::ranges::sort(keys_, {}, place_of);
  divide();
}

void KeyWalk::set_view(const ring::RingSnapshot& view) {
  view_ = view;
  divide();
}

void KeyWalk::divide() {
  if (view_ == nullptr) return;
  for (auto& [id, node] : nodes_) node.keys.clear();
  for (const balance::MetKey& each : keys_) nodes_[view_->owner(each.token)].keys.push_back(each);
}

void KeyWalk::walk(NodeId id, std::size_t keys, Instant now) {
  Node& node = nodes_[id];
  if (node.keys.empty()) return;
  auto next = std::ranges::upper_bound(node.keys, node.met_until, {}, place_of);
  std::vector<balance::MetKey> page;
  while (page.size() < std::min(keys, node.keys.size())) {
    if (next == node.keys.end()) next = node.keys.begin();
    page.push_back(*next++);
  }
  node.met_until = place_of(page.back());
  node.census.add(page, now);
}

const std::vector<balance::KeySample>& KeyWalk::sample(NodeId id) {
  return nodes_[id].census.sample(*view_, id);
}

}  // namespace cleave::rehearse
