/// @file
/// Makes one ring after the other, for fleets whose nodes come and go.
#ifndef CLEAVE_RING_BUILDER_HPP
#define CLEAVE_RING_BUILDER_HPP

#include <cleave/ring_export.h>
#include <cleave/ring.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace cleave {

/// Makes rings each from the one before: it keeps the points of all nodes, so that a change hashes
/// those of one node only, where the scheme's points depend on their node alone (vnode,
/// murmur64a-vnode, java-vnode, jedis by name, nginx consistent, uhashring by number); for other
/// schemes as fast as Ring::with_node. Large rings are changed several times faster so;
/// for a single join, Ring::with_node may do.
///
/// Not a value but one thing: it can be moved, not copied, and a moved-from one may only be
/// destroyed or assigned to. Threads: one at a time; the rings that it gives are immutable and live
/// by themselves. Memory: 16 to 32 bytes a point beside the ring.
class CLEAVE_RING_API RingBuilder {
 public:
  /// Begins with that ring. Cost: as Ring's constructor.
  explicit RingBuilder(const Ring& ring);

  RingBuilder(RingBuilder&&) noexcept;             ///< Leaves the other empty.
  RingBuilder& operator=(RingBuilder&&) noexcept;  ///< Leaves the other empty.
  ~RingBuilder();

  /// The ring after all changes so far; the same as Ring::with_node and so on would give.
  const Ring& ring() const noexcept;

  /// As Ring::with_node. After an error all is as before. Cost: O(points), with no hash and no
  /// search for those of the other nodes.
  /// @throws RingError as Ring::with_node.
  void add(const Ring::Node& node);

  /// As Ring::without_node. Cost: as add().
  /// @throws RingError as Ring::without_node.
  void remove(std::string_view name);

  /// As Ring::with_weight. Cost: as add().
  /// @throws RingError as Ring::with_weight.
  void set_weight(std::string_view name, std::uint32_t weight);

 private:
  struct Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave

#endif
