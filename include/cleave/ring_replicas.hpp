/// @file
/// Which nodes hold the copies of a key: distinct nodes, over racks and datacenters.
#ifndef CLEAVE_RING_REPLICAS_HPP
#define CLEAVE_RING_REPLICAS_HPP

#include <cleave/ring_export.h>
#include <cleave/ring.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave {

/// The replicas of every key of a ring, found by walking it clockwise from the key's token.
///
/// Immutable, a value as cheap to copy as a ring; any number of threads may use one at once. Made
/// of one ring: for a changed ring, make it anew. Memory: 4 bytes a replica and arc, and 20 to 28
/// bytes an arc.
class CLEAVE_RING_API RingReplicas {
 public:
  /// What racks and nodes do not suffice for; the same for every key.
  struct Shortage {
    std::string datacenter;  ///< Empty for simple() and for nodes without one.
    std::uint32_t wanted;    ///< Replicas that this datacenter is to hold.
    std::uint32_t missing;   ///< Of those, how many there are no nodes for.
    std::uint32_t sharing;   ///< How many stand in a rack that already holds one.
  };

  /// The next `replicas` distinct nodes, wherever they stand: Dynamo's preference list, Cassandra's
  /// SimpleStrategy.
  /// @throws RingError kInvalid for 0; kLimit for more than 64, or more than 2^26 in all arcs.
  static RingReplicas simple(const Ring& ring, std::uint32_t replicas);

  /// So many in each datacenter, and no two in one rack while there are racks enough: Cassandra's
  /// NetworkTopologyStrategy. A node without rack counts as a rack of its own; a datacenter that is
  /// not named holds nothing.
  /// @throws RingError as simple(), for the sum of all.
  static RingReplicas over_racks(const Ring& ring,
                                 const std::map<std::string, std::uint32_t>& of_datacenters);

  /// The same for a ring within one datacenter.
  /// @throws RingError kInvalid when the nodes stand in several.
  static RingReplicas over_racks(const Ring& ring, std::uint32_t replicas);

  RingReplicas(const RingReplicas&) noexcept;             ///< Shares what the other holds.
  RingReplicas& operator=(const RingReplicas&) noexcept;  ///< Shares what the other holds.
  ~RingReplicas();

  /// The nodes of a key, as indexes, in the order of the walk: first its owner (unless the owner's
  /// datacenter is to hold nothing). Always count() of them; none when the peer places the key
  /// nowhere.
  std::vector<std::size_t> locate(std::string_view key) const;

  /// The same into `nodes`, which must take count() indexes; how many there are: count() or 0.
  /// Allocates as Ring::locate.
  std::size_t locate(std::string_view key, std::size_t* nodes) const noexcept;

  /// The nodes of a token.
  std::vector<std::size_t> of_token(std::uint64_t token) const;

  /// Replicas of each key: what was wanted without what is missing.
  std::size_t count() const noexcept;

  /// Empty when there are nodes and racks enough.
  const std::vector<Shortage>& shortages() const noexcept;

  /// The ring that this was made of.
  const Ring& ring() const noexcept;

 private:
  struct Impl;

  explicit RingReplicas(std::shared_ptr<const Impl> impl) noexcept;

  std::shared_ptr<const Impl> impl_;  // never null
};

}  // namespace cleave

#endif
