// KeySampler: which keys a server holds and how large they are, by a small random sample, so that
// the planner knows where a node's bytes lie and not only how many there are.
//
//   each round, every node   RANDOMKEY x 256, then MEMORY USAGE of what that named
//                            -> the newest 8,192 of a node, without those that have moved away
//
// A server's RANDOMKEY prefers keys in sparse buckets of its table a little; a density of bytes
// over thousands of tokens is not bent by that. Costs a server about 1 ms a round.
//
// Threads: one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "balance/input.h"
#include "base/ids.h"
#include "ring/view.h"

namespace cleave::control {

class KeySampler {
 public:
  static constexpr std::size_t kKeysARound = 256;
  static constexpr std::size_t kKept = 8'192;  // of a node: 320 s at a round of 10 s

  // One round for one node. What fails is passed over.
  void ask(NodeId node, const std::shared_ptr<backend::RedisStore>& store,
           const ring::RingSnapshot& view);
  // The node has left.
  void forget(NodeId node) { kept_.erase(node); }

  // What is kept of the keys that the node owns by this view, sorted by token. Sorted once for each
  // round and view: it is asked for at every tick.
  const std::vector<balance::KeySample>& of(NodeId node, const ring::RingView& view);

 private:
  void ask_sizes(NodeId node, backend::RedisStore& store, std::vector<std::string> keys,
                 const ring::RingSnapshot& view);
  struct Kept {
    std::deque<balance::KeySample> samples;  // newest last
    std::vector<balance::KeySample> sorted;  // of `epoch`; out of date when that is 0
    Epoch epoch;
  };
  void keep(NodeId node, const balance::KeySample& sample);

  std::map<NodeId, Kept> kept_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
