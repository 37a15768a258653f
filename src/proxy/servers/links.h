// Links: one worker's pipes, one to each node of its view, found by the place of a key in the view.
//
// A node that leaves the view, or changes its address, is retired: its pipe stays until every
// command on it is finished (protocol rule 6), because commands point to their link.
//
// Threads: one worker.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/pipe.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "base/rng.h"
#include "net/loop.h"
#include "proxy/facts/counters.h"
#include "proxy/servers/lanes.h"
#include "ring/view/view.h"

namespace cleave::proxy {

// A worker's way to one node.
struct NodeLink {
  NodeId node;
  net::Address address;
  std::string title;     // "node a (127.0.0.1:7001)", for errors
  std::string down;      // why, as the node's prober sees it; empty: up
  bool replica = false;  // likewise: it takes no writes
  std::unique_ptr<backend::Pipe> pipe;
  std::unique_ptr<Lanes> lanes;                      // for what is too large for the pipe
  std::array<std::uint64_t, kErrorCauses> errors{};  // by cause
  std::uint32_t part = 0;  // scratch of a fan-out under construction: its part, plus one
};

class Links {
 public:
  struct Options {
    net::Loop& loop;
    backend::Gate& gate;
    backend::Credentials credentials;
    Limits limits;
    Mutations mutations;
    std::uint64_t seed = 0;
  };

  explicit Links(Options options) : options_(std::move(options)), rng_(options_.seed) {}

  void adopt(const ring::RingView& view);

  // Who owns that entry of the view adopted last.
  NodeLink& owner(ring::RangeIndex index) { return *owners_[index.value()]; }
  // Of the view adopted last; nullptr: not in it.
  NodeLink* find(NodeId node);
  // Of the view adopted last.
  const std::vector<std::unique_ptr<NodeLink>>& all() const { return links_; }

  // Destroys retired links on which nothing is unfinished, and lanes that are not used any more.
  // Not to be called from within a pipe's callback.
  void sweep();
  // Destroys every pipe: their sinks are dropped.
  void clear();

 private:
  std::unique_ptr<NodeLink> open(const ring::Node& node, const net::Address& address);
  std::unique_ptr<backend::Pipe> open_pipe(const net::Address& address);

  Options options_;
  Rng rng_;
  std::vector<std::unique_ptr<NodeLink>> links_;
  std::vector<std::unique_ptr<NodeLink>> retired_;
  std::vector<NodeLink*> owners_;  // by entry of the view
};

}  // namespace cleave::proxy
