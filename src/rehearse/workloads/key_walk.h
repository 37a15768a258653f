// KeyWalk: the leader's walks over the keys of the nodes, as the live one makes them
// (key_sampler.h): so many keys at a time, in an order that has nothing to do with tokens.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "balance/input/key_census.h"
#include "base/clock.h"
#include "rehearse/workloads/scene.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

class KeyWalk {
 public:
  // Which keys there are now. Cost: O(keys log keys).
  void set_scene(const Scene& scene);

  // Which node holds them. Cost: O(keys log ranges).
  void set_view(const ring::RingSnapshot& view);

  // Meets the next keys of the node. Requires: a view was set.
  void walk(NodeId node, std::size_t keys, Instant now);

  const std::vector<balance::KeySample>& sample(NodeId node);

 private:
  struct Node {
    std::vector<balance::MetKey> keys = {};  // in the order of the walk
    std::uint64_t met_until = 0;             // place of the last key that was met
    balance::KeyCensus census = {};
  };

  void divide();

  std::vector<balance::MetKey> keys_;  // all, in the order of the walk
  ring::RingSnapshot view_;
  std::map<NodeId, Node> nodes_;
};

}  // namespace cleave::rehearse
