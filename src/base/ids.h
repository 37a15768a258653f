// Strong types for the values that would otherwise all be integers or strings.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace cleave {

// A value of its own type: explicit in, explicit out, no implicit conversion in either direction.
template <class Tag, class Rep>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(std::move(value)) {}
  constexpr const Rep& value() const { return value_; }
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

 private:
  Rep value_{};
};

// A position on the ring.
using Token = Strong<struct TokenTag, std::uint64_t>;

// A backend group of one pool; given by the document, never reused. 0 is nobody.
using NodeId = Strong<struct NodeIdTag, std::uint32_t>;

// Version of the ring document; every compare-and-set raises it by one. 0 is "no document".
using Epoch = Strong<struct EpochTag, std::uint64_t>;

// Which leader's rule: raised by every change of leader (protocol rule 3).
using Term = Strong<struct TermTag, std::uint64_t>;

// One move. Its number is the epoch of the compare-and-set that began it, so it never returns.
using MoveId = Strong<struct MoveIdTag, std::uint64_t>;

// One life of a router process: a name that never returns (protocol, "Session").
using SessionId = Strong<struct SessionIdTag, std::string>;

// One life of a server's data: a restart changes the run id, a failover the replication id, so an
// equal pair means that what was copied from it is still its past (protocol, "Incarnation").
struct Incarnation {
  std::string run_id;
  std::string replication_id;

  friend auto operator<=>(const Incarnation&, const Incarnation&) = default;
};

}  // namespace cleave
