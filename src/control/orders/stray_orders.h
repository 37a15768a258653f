// StrayOrders: what may be ordered of servers to take over, and of keys that lie where the ring
// does not look; how it is answered: control/orders/answers.h.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "control/orders/answers.h"
#include "control/orders/status.h"
#include "control/orders/stray_count.h"
#include "ring/document/scheme_search.h"

namespace cleave::control {

// A server before it is taken over: `facts.strays` are of a look made for this.
struct SurveyedNode {
  NodeFacts facts;
  std::string look_error;  // why its keys could not be looked at
};

// What is on the servers, and whether the ring finds it there.
struct Survey {
  std::vector<SurveyedNode> nodes;
  // A known scheme that fits the keys far better than the pool's own, where that does not.
  std::optional<ring::SchemeFit> fits = {};
};

// Where a pass over a node's strays goes on.
struct StrayPage {
  NodeId node;
  std::string cursor;  // empty: at the start
};

// A stray that stays where it is.
struct StrayKept {
  std::string key;
  std::string why;
};

// What became of a page of strays.
struct StraysHandled {
  std::uint64_t handled = 0;  // moved to their owners, or removed
  std::vector<StrayKept> kept;
  std::string next;  // cursor; empty: that was the last page
};

// What a stray holds.
struct StrayDump {
  std::string key;
  std::string payload;             // of DUMP
  std::uint64_t hash = 0;          // XXH3-64 of it
  std::int64_t expires_at_ms = 0;  // 0 = never
};

// What a page of strays holds.
struct StrayDumps {
  std::vector<StrayDump> dumps;
  std::vector<StrayKept> kept;
  std::string next;
};

// Which servers to mark.
struct AdoptOrder {
  std::vector<NodeId> nodes;
  Force force = Force::kNo;  // kYes: also where the ring does not find the keys that are there
};

// All strays of all nodes, as a fresh look has found them.
struct StrayList {
  static constexpr std::size_t kListed = 1'000;  // of a node

  struct Node {
    NodeId node;
    std::string error;  // why it could not be looked at
    StrayCount count;   // `examples` are all of them, up to kListed
  };
  std::vector<Node> nodes;
};

class StrayOrders {
 public:
  virtual ~StrayOrders() = default;

  // What `adopt` would mark: the servers with what is on them, and whether the ring finds it there.
  // Writes nothing.
  virtual void survey(Done<Survey> done) = 0;
  // Writes this pool's ownership marker on the servers that carry none. Refused for a server that
  // carries another pool's; unless forced also where the ring does not find the keys.
  virtual void adopt(AdoptOrder order, Done<void> done) = 0;
  // Looks for strays now, at every node.
  virtual void list_strays(Done<StrayList> done) = 0;
  // One page of strays each (stray_mover.h): to their owners, never over a key that is
  // there; what they hold; and their removal, of each only if it still holds that, by its hash.
  virtual void move_strays(StrayPage from, Done<StraysHandled> done) = 0;
  virtual void read_strays(StrayPage from, Done<StrayDumps> done) = 0;
  virtual void remove_strays(NodeId node, std::vector<StrayDump> dumps,
                             Done<StraysHandled> done) = 0;
  // Looks, and takes down in the document that a person knows of the strays that are there: only
  // more than those hold moves of scripts' ranges back. Answers how many there are.
  virtual void accept_strays(Done<std::uint64_t> done) = 0;
};

}  // namespace cleave::control
