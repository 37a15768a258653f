// Which nodes hold the copies of a token: R distinct ones, found by walking the ring clockwise.
//
//   arcs     |  a  |  b  |  c  |  d  |  a  | ...      a, b stand in rack r1; c, d in rack r2
//   simple, 2 replicas     token in a: a b       the next distinct nodes
//   topology, 2 replicas   token in a: a c       b is passed over: its rack has one already
//
// simple: Dynamo's preference list (DeCandia et al., SOSP 2007, 4.3) and Cassandra's
// SimpleStrategy. topology: the walk of Cassandra 4.1's NetworkTopologyStrategy, to the order of
// the replicas. Each datacenter has its own number R. A node is taken when it is the first of its
// rack; another one of that rack only while fewer racks than R must be made up for, the earliest
// first.
// So no rack has two when there are R racks, and every rack has one when there are fewer.
//
// Works on any arcs: a Placement's, or a RingView's owners with cuts over them. Racks and nodes
// that own no arc cannot be met by a walk and do not count. How many replicas there are, and what
// racks and nodes do not suffice for, is the same for every token: see `shortages`.
//
// After a join that only adds arcs of the joiner, each set of replicas is the one before, or that
// with the joiner: in the place of one other node, unless one was missing.
//
// Immutable. Threads: any, read-only. Memory: 4 bytes a replica and arc; 20 to 28 bytes an arc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/placed/arc_walk.h"

namespace cleave::ring {

inline constexpr std::uint32_t kReplicasMax = 64;  // of a token, all datacenters together
inline constexpr std::uint64_t kReplicaEntriesMax = std::uint64_t{1} << 26U;  // arcs x replicas

// Where a node stands. Racks of one name in two datacenters are two racks.
struct Site {
  NodeId node;
  std::string rack = {};        // empty: a rack of its own
  std::string datacenter = {};  // empty is one, too
};

// How many replicas a datacenter is to hold; 0 is allowed, as in Cassandra.
struct DatacenterReplicas {
  std::string datacenter = {};
  std::uint32_t replicas = 0;
};

// What is wanted of a walk.
struct Replication {
  enum class Strategy : std::uint8_t { kSimple, kTopology };
  Strategy strategy = Strategy::kSimple;
  std::vector<DatacenterReplicas> wanted;

  // The next `replicas` distinct nodes, wherever they stand.
  static Replication simple(std::uint32_t replicas);
  // One rule for each datacenter; what is not named holds nothing.
  static Replication topology(std::vector<DatacenterReplicas> wanted);
};

// A datacenter whose nodes or racks are too few, for every token alike.
struct Shortage {
  std::string datacenter = {};
  std::uint32_t wanted = 0;   // replicas
  std::uint32_t missing = 0;  // of those, how many there are no nodes for
  std::uint32_t sharing = 0;  // and how many stand in a rack that already holds one

  friend bool operator==(const Shortage&, const Shortage&) = default;
};

// "datacenter 'east': 1 of 3 replicas missing, 1 in a rack that already holds one".
std::string to_string(const Shortage& shortage);

// The replicas of every arc, found once.
class ReplicaTable {
 public:
  // `sites`: every owner of an arc, in any order; others do not matter. Errors: kInvalid as
  // ArcWalk::build, for a datacenter that is wanted twice, for no replica at all; kExhausted above
  // the limits of this file. Cost: O(arcs x R log R), whatever the order of the racks.
  static Result<ReplicaTable> build(std::span<const Arc> arcs, std::span<const Site> sites,
                                    const Replication& replication);

  // The nodes that hold the token, in the order of the walk, all different; always `replicas()` of
  // them. The first is the token's owner, unless its datacenter is to hold nothing. Valid as long
  // as the table. Cost: O(1) expected.
  std::span<const NodeId> of(Token token) const { return of_arc(walk_.find(token)); }

  // The same for the i-th arc.
  std::span<const NodeId> of_arc(std::uint32_t arc) const {
    return std::span(nodes_).subspan(std::size_t{arc} * replicas_, replicas_);
  }

  // Of each token: what was wanted without what is missing.
  std::uint32_t replicas() const { return replicas_; }

  // Empty when every datacenter has enough nodes and racks; in the order of what was wanted.
  std::span<const Shortage> shortages() const { return shortages_; }

 private:
  explicit ReplicaTable(ArcWalk walk) : walk_(std::move(walk)) {}

  ArcWalk walk_;
  std::uint32_t replicas_ = 0;
  std::vector<NodeId> nodes_;  // `replicas_` for each arc, one after the other
  std::vector<Shortage> shortages_;
};

}  // namespace cleave::ring
