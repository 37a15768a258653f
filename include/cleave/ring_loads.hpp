/// @file
/// Chooses among nodes by what they carry: for what any node can serve and one serves best, such as
/// persistent sessions or the overflow of a cache. Not for a store: nothing remembers where a key
/// went.
#ifndef CLEAVE_RING_LOADS_HPP
#define CLEAVE_RING_LOADS_HPP

#include <cleave/ring_export.h>
#include <cleave/ring.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace cleave {

/// A ring and how much each node carries now. acquire() takes a node for a key and adds one to its
/// load, release() gives one back. Deterministic: the same calls give the same nodes.
///
/// Not a value but one thing: it can be moved, not copied, and a moved-from one may only be
/// destroyed or assigned to. Threads: one at a time; guard it by a lock of your own to share it.
class CLEAVE_RING_API RingLoads {
 public:
  /// Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, SODA 2018): a key goes
  /// to its owner unless that is full, then to the next node clockwise that is not. Full is a node
  /// that carries `bound_per_mille` thousandths of its share of all load (by weight, rounded up; on
  /// a ring of scheme haproxy rounded as HAProxy does, so that the choice is HAProxy's, request for
  /// request): none ever gets more.
  /// @throws RingError kInvalid for a bound outside of 1,001 to 1,000,000.
  static RingLoads bounded(const Ring& ring, std::uint32_t bound_per_mille = 1'250);

  /// The power of two choices (Azar and others, SIAM J. Comput. 1999): a key has two nodes, and
  /// that one is taken that carries less beside its weight.
  static RingLoads two_choices(const Ring& ring);

  RingLoads(RingLoads&&) noexcept;             ///< Leaves the other empty.
  RingLoads& operator=(RingLoads&&) noexcept;  ///< Leaves the other empty.
  ~RingLoads();

  /// The node for a key, as an index in ring().nodes(), whose load it raises by one; nothing when
  /// the peer places the key nowhere. Cost: Ring::locate, and a step for each full arc in between.
  std::optional<std::size_t> acquire(std::string_view key);

  /// Lowers the load of a node by one; false, and nothing changes, when it carries nothing or is
  /// no index of a node.
  bool release(std::size_t node) noexcept;

  /// What the node carries; 0 when it is no index of a node.
  std::uint64_t load(std::size_t node) const noexcept;

  /// What all nodes carry.
  std::uint64_t total() const noexcept;

  /// Goes on with a changed ring: nodes of the same name keep their load, others begin with none.
  /// Indexes are those of the new ring from then on. Cost: O(points log nodes).
  void change_ring(const Ring& ring);

  /// The ring that keys are looked up in.
  const Ring& ring() const noexcept;

 private:
  struct Impl;

  explicit RingLoads(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave

#endif
