// Places keys as other clients, proxies and databases do, bit for bit, in cleave's terms: a token
// of 64 bit for each key, arcs of tokens for each node (docs/adr/0013-placement-schemes.md).
//
//   spec + nodes --place--> Placement:  key --token_of--> token --arcs--> node
//
// The schemes and their options: `schemes()`, docs/schemes.md. Proven by recordings of the real
// peers in ring/testdata/vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/scheme_spec.h"
#include "ring/schemes/key_to_token.h"
#include "ring/token_index.h"

namespace cleave::ring {

inline constexpr std::size_t kPlacedNodesMax = 100'000;
inline constexpr std::uint32_t kPlacedWeightMax = 1'000'000;
inline constexpr std::uint64_t kPlacedPointsMax = std::uint64_t{1} << 23U;  // or table entries

// In place of an index: no node.
inline constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

// A node as the peer's configuration names it. Weight 1..kPlacedWeightMax.
struct PlacedNode {
  std::string name;
  std::uint32_t weight = 1;
  // In the peer's list, from 0, for peers that place nodes by it: it stays when others leave the
  // list. Absent: the index among the nodes given.
  std::optional<std::uint32_t> position = {};
};

// What tells whether cuts can be laid on a scheme.
enum class Tokens : std::uint8_t {
  kFixed,    // the token of a key does not depend on the nodes
  kOfNodes,  // it does: a join may change every token
};

// Immutable. Threads: any, read-only. Memory: 18 to 24 bytes a point.
class Placement {
 public:
  // Requires: `arcs` not empty; the node of index i in the list of nodes is NodeId{i + 1}. Cost:
  // O(arcs).
  Placement(KeyToToken token_of, ArcTable arcs, Tokens tokens);

  // nullopt: the peer refuses the key or spreads such keys round robin. Keys are any bytes.
  std::optional<Token> token_of(std::string_view key) const { return token_of_(key); }

  // All of them in token order, made as they are read: a random access range of Arc. NodeId{i + 1}
  // is the node of index i; neighbours have different owners.
  auto arcs() const {
    return std::views::iota(0U, static_cast<std::uint32_t>(owners_.size())) |
           std::views::transform(
               [this](std::uint32_t at) { return arc_at(index_.firsts(), owners_, at); });
  }

  // The one that holds the token. Cost: O(1) expected.
  Arc arc_of(Token token) const { return arc_at(index_.firsts(), owners_, index_.find(token)); }

  // Whether the token of a key stays when nodes come and go, so that cuts are possible.
  bool fixed_tokens() const { return tokens_ == Tokens::kFixed; }

  // Index of the node in the list it was placed with. Cost: the hash; and O(1) expected.
  std::optional<std::size_t> owner(std::string_view key) const {
    const std::optional<Token> token = token_of(key);
    if (!token) return std::nullopt;
    return owner(*token);
  }
  std::size_t owner(Token token) const {
    // A large ring comes from memory: the owner is fetched while the arc is still searched.
    __builtin_prefetch(&owners_[index_.find_about(token)]);
    return owners_[index_.find(token)].value() - 1;
  }

  // Many at once: `tokens[i]` and `owners[i]` are those of `keys[i]`; kNoNode is the owner of a key
  // without a token. Requires: as many of each. Cost: 16-byte keys with a fast hash about as one at
  // a time in a small ring; a third of it for MD5, whose hashes run side by side, and half of it in
  // rings that come from memory, where the reads do.
  void tokens_of(std::span<const std::string_view> keys,
                 std::span<std::optional<Token>> tokens) const {
    token_of_(keys, tokens);
  }
  void owners(std::span<const std::optional<Token>> tokens, std::span<std::size_t> owners) const;
  void owners(std::span<const std::string_view> keys, std::span<std::size_t> owners) const;

 private:
  KeyToToken token_of_;
  TokenIndex index_;            // over the arcs
  std::vector<NodeId> owners_;  // of the arcs
  Tokens tokens_;
};

// Errors: kInvalid for an unknown scheme, option or value (lists what there is), no nodes, a name
// twice, an empty name, weight 0 or above the maximum; kExhausted for more nodes or points than the
// limits above. Cost: O(points) expected, most of it the hashes of the points; O(points log points)
// for points that are not spread like hashes.
Result<std::shared_ptr<const Placement>> place(const SchemeSpec& spec,
                                               std::span<const PlacedNode> nodes);

// What a scheme tells about itself, for help texts.
struct OptionText {
  std::string_view name;
  std::string_view values;  // for people: what may be given, and the default
};

// A row of `schemes()`.
struct SchemeText {
  std::string_view name;
  std::string_view peer;  // whose placement it is, with the version it was proven with
  std::vector<OptionText> options;
};

// All of them, in the order of docs/schemes.md.
std::vector<SchemeText> schemes();

}  // namespace cleave::ring
