// KeySampler: which keys a server holds and how large they are, so that the planner knows where a
// node's bytes lie and not only how many there are.
//
//   each 10 s, every node     one page: SCAN from where the last one ended, MEMORY USAGE of what it
//                             named -> KeyCensus of the node
//   each second, in a hurry   four pages, one after the other, so that clients get their turn
//
// SCAN and not RANDOMKEY: it meets every key once before it meets one again, in an order as random,
// and costs half. A page costs a server about 0.7 ms: 0.2 SCAN, 0.2 MEMORY USAGE, the rest to parse
// and answer (Redis 7.0, 100,000 keys).
//
// Threads: one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "balance/input/key_census.h"
#include "base/ids.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

class KeySampler {
 public:
  explicit KeySampler(net::Loop& loop) : loop_(loop) {}

  // So many pages of one node. What fails is passed over; while pages are still asked for, nothing.
  void ask(NodeId node, const std::shared_ptr<backend::RedisStore>& store,
           const ring::RingSnapshot& view, std::size_t pages);
  // The node has left.
  void forget(NodeId node) { nodes_.erase(node); }

  // What is known of the keys that the node owns by this view, sorted by token.
  const std::vector<balance::KeySample>& of(NodeId node, const ring::RingView& view);

  // Whether its server answers: not when it forbids SCAN or MEMORY to the router.
  bool answers(NodeId node) const;

 private:
  struct Node {
    std::string cursor = "0";
    std::size_t pages_left = 0;      // of what was asked
    std::uint32_t pages_failed = 0;  // one after the other
    balance::KeyCensus census = {};
  };
  struct Walk {
    NodeId node;
    std::shared_ptr<backend::RedisStore> store;
    ring::RingSnapshot view;
  };

  void ask_page(const Walk& walk);
  void take_page(const Walk& walk, const wire::Reply& page);
  void ask_sizes(const Walk& walk, std::vector<std::string> keys);
  void take_sizes(const Walk& walk, const std::vector<std::string>& keys,
                  const backend::Replies& sizes);
  void failed(NodeId node);

  net::Loop& loop_;
  std::map<NodeId, Node> nodes_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
