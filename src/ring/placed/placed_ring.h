// A ring as a value: nodes placed by a scheme, and cuts laid over them. What the public library
// (include/cleave/ring.hpp) hands out.
//
//   RingSpec --make--> PlacedRing:  key --token_of--> token --cut, else placement--> node
//
// Invariant: every token has exactly one owner. Immutable. Threads: any, read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/document/document.h"
#include "ring/placed/placement_diff.h"
#include "ring/schemes/placement.h"
#include "ring/token_index.h"
#include "ring/token_range.h"

namespace cleave::ring {

inline constexpr std::size_t kLaidCutsMax = 100'000;

// A node of a ring. The name is what the scheme hashes; rack and datacenter are for replicas only.
struct RingNode {
  std::string name;  // unique
  std::uint32_t weight = 1;
  std::string rack = {};
  std::string datacenter = {};

  friend bool operator==(const RingNode&, const RingNode&) = default;
};

// An explicit range whose owner is the node of that name, whatever the scheme says.
struct NamedCut {
  TokenRange range;
  std::string node;

  friend bool operator==(const NamedCut&, const NamedCut&) = default;
};

// Everything that a ring is made of.
struct RingSpec {
  SchemeSpec scheme;
  std::vector<RingNode> nodes;
  std::vector<NamedCut> cuts = {};  // disjoint
};

// As `place` takes them.
std::vector<PlacedNode> placed_nodes(std::span<const RingNode> nodes);

// Without that node and the cuts that it owns.
RingSpec without_node(RingSpec spec, std::string_view name);

class PlacedRing {
 public:
  // Errors: those of `place`; kInvalid for names, racks and datacenters that are no words (UTF-8
  // without control characters, at most kWordBytesMax bytes), for values of options that are not
  // UTF-8 of at most kOptionBytesMax bytes, for cuts that overlap or lie on a scheme whose tokens
  // are not fixed; kNotFound for a cut of an unknown node; kExhausted for more than kLaidCutsMax
  // cuts. Cost: that of `place`, and O(cuts log cuts).
  static Result<PlacedRing> make(const RingSpec& spec);

  // The same from what `place` gave for the scheme and the nodes. Cost: without that of `place`.
  static Result<PlacedRing> make(const RingSpec& spec, std::shared_ptr<const Placement> placement);

  // Index of the node in `nodes`; nullopt as Placement::token_of. Cost: the hash and O(1) expected.
  std::optional<std::size_t> owner(std::string_view key) const;
  std::size_t owner(Token token) const;
  // Many at once, kNoNode for a key without a token. Requires: as many owners as keys. Cost: as
  // Placement::owners.
  void owners(std::span<const std::string_view> keys, std::span<std::size_t> owners) const;
  std::optional<Token> token_of(std::string_view key) const { return placement_->token_of(key); }

  const SchemeSpec& scheme() const { return scheme_; }
  const std::vector<RingNode>& nodes() const { return nodes_; }
  // Sorted, disjoint; of them only range and node are used: NodeId{i + 1} is the node of index i.
  const std::vector<Cut>& cuts() const { return cuts_; }
  const Placement& placement() const { return *placement_; }
  bool fixed_tokens() const { return placement_->fixed_tokens(); }
  std::optional<std::size_t> index_of(std::string_view node) const;

  // `make` of it gives the same ring; cuts in token order.
  RingSpec spec() const;

  // Every token once, sorted, neighbours of one owner joined, node i as NodeId{i + 1}.
  // Cost: O(arcs of the placement + cuts).
  std::vector<Arc> arcs() const;

  // A new ring with that one change. Errors: as `make`; kNotFound for a node that is not there.
  // Cost: for a node more that of `place_joined`, for other changes of nodes that of `place`; for
  // cuts O(nodes + cuts), however many points.
  Result<PlacedRing> with_node(const RingNode& node) const;  // the last one
  // Takes the node's cuts away with it: their tokens go back to whom the scheme gives them.
  Result<PlacedRing> without_node(std::string_view name) const;
  Result<PlacedRing> with_weight(std::string_view name, std::uint32_t weight) const;
  // Over older cuts: what it does not cover of them stays.
  Result<PlacedRing> with_cut(const NamedCut& cut) const;
  PlacedRing without_cuts() const;

 private:
  PlacedRing() = default;

  // `make` of a spec whose nodes are already placed, or could not be.
  static Result<PlacedRing> make_of(Result<std::shared_ptr<const Placement>> placement,
                                    const RingSpec& spec);

  void lay_out(std::vector<Cut> cuts);

  SchemeSpec scheme_;
  std::vector<RingNode> nodes_;
  std::shared_ptr<const Placement> placement_;
  std::vector<Cut> cuts_;
  TokenIndex pieces_;  // the cuts and what lies between them; unused without cuts
  std::vector<std::uint32_t> owner_of_piece_;  // its node's id; 0: whom the placement says
};

// Where the owner changes, by name; ring/placed/placement_diff.h. Errors: kInvalid when the
// rings are of two schemes, or of options by which a key has two tokens, or when tokens depend on
// the nodes. Cost: O(arcs and cuts of both + nodes log nodes).
Result<PlacementDiff> diff(const PlacedRing& before, const PlacedRing& after);

}  // namespace cleave::ring
