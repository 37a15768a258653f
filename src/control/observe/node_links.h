// NodeLinks: the leader's own connections to the servers, one for each node and term, and what it
// last saw there.
//
// Moves are driven through them, so they are named after the term's session and used only while a
// linearizable read shows that term (protocol rules 5 and 8).
//
// Threads: one loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "base/limits.h"
#include "base/rng.h"
#include "control/document/document_writer.h"
#include "control/observe/command_kinds.h"
#include "control/observe/copy_counts.h"
#include "control/observe/latency_watch.h"
#include "control/observe/server_options.h"
#include "control/orders/status.h"
#include "net/loop.h"
#include "ring/document/document.h"

namespace cleave::control {

// A server's own counters, read some time between `asked` and `seen`.
struct ServerCounters {
  Incarnation incarnation;
  std::string command_stats;  // INFO commandstats
  std::uint64_t cpu_us = 0;   // of the thread that carries them out; 0: not told
  Instant asked{0};
  Instant seen{0};
};

class NodeLinks {
 public:
  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    ring::Leader leader;  // whose term this is
    ServerOptions servers;
    Limits limits;
    Mutations mutations;
    std::uint64_t seed = 0;
    std::function<void(const std::string&)> log;
    std::shared_ptr<CopyCounts> copies = std::make_shared<CopyCounts>();
  };

  explicit NodeLinks(Options options);
  ~NodeLinks();
  NodeLinks(const NodeLinks&) = delete;
  NodeLinks& operator=(const NodeLinks&) = delete;

  // Connects to nodes that came, lets those go that left.
  void follow(const SharedDocument& document);
  // nullptr: no such node.
  std::shared_ptr<backend::RedisStore> store(NodeId node) const;

  // Asks every server for its facts; `done` when all have answered or failed. While one poll is
  // under way another is answered with it.
  void poll(std::function<void()> done);
  std::vector<NodeFacts> facts() const;
  const NodeFacts* facts(NodeId node) const;
  // nullptr: none yet, or it did not answer the last poll.
  const ServerCounters* counters(NodeId node) const;
  // How long each server takes to answer.
  LatencyWatch& latencies() { return latencies_; }
  // By one server's command table; nullptr until it was asked.
  const CommandKinds* command_kinds() const { return kinds_ ? &*kinds_ : nullptr; }
  // Writes the pool's marker where there is none, and the note of the ring. Errors: the first
  // server's.
  void mark(const std::vector<NodeId>& nodes, std::function<void(Result<void>)> done);
  // The same, also over another ring's marker; kConflict where a router is at work that the
  // document does not show.
  void take_over(const std::vector<NodeId>& nodes, std::function<void(Result<void>)> done);

 private:
  class TermGate;
  struct Link {
    std::string address;
    std::shared_ptr<backend::RedisStore> store;
    NodeFacts facts;
    ServerCounters counters;
    bool noting = false;
    // The id that the server's note had, and in which life: a FLUSHALL that did not come through a
    // router takes the note, and the server is the same.
    std::string server;
    std::string server_run;
  };
  using Marked = std::function<void(Result<void>)>;
  using MarkOne = std::function<void(const std::shared_ptr<backend::RedisStore>&, Marked)>;

  void take_facts(NodeId node, Instant asked, Result<backend::StoreFacts> facts);
  void learn_kinds(backend::RedisStore& store);
  void mark_if_new(NodeId node, const Link& link);
  void mark_each(const std::vector<NodeId>& nodes, const MarkOne& mark_one, Marked done);
  void take_over_idle(const std::shared_ptr<backend::RedisStore>& store, const Marked& done);
  void note_if_due(NodeId node, Link& link);
  void note(NodeId node, Link& link);
  void let_go(NodeId node);
  void end_poll();

  Options options_;
  std::shared_ptr<TermGate> gate_;  // held by each store too, whose connection asks it
  Rng rng_;
  SharedDocument document_;
  LatencyWatch latencies_;
  std::map<NodeId, Link> links_;
  std::optional<CommandKinds> kinds_;
  bool learning_ = false;
  bool polling_ = false;
  std::set<NodeId> unanswered_;  // of the poll under way
  std::vector<std::function<void()>> pollers_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
