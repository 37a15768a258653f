/// @file
/// Places keys on nodes exactly as other clients, proxies and databases do, and lays explicit cuts
/// on top. C++17, standard library only. Link with `cleave::ring` (CMake) or `cleave-ring`
/// (pkg-config). For other languages: cleave/cleave_ring.h.
///
/// @code
/// const cleave::Ring ring("twemproxy-ketama", {{"10.0.0.1:6379"}, {"10.0.0.2:6379", 2}});
/// const auto node = ring.locate("user:17");           // index in ring.nodes(), or nothing
/// const cleave::Ring grown = ring.with_node({"10.0.0.3:6379"});
/// for (const cleave::Ring::Change& change : cleave::Ring::diff(ring, grown)) ...
/// @endcode
#ifndef CLEAVE_RING_HPP
#define CLEAVE_RING_HPP

#include <cleave/ring_export.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cleave {

/// Why a ring cannot be made or changed so. Thrown by what makes rings; look-ups throw nothing.
class CLEAVE_RING_API RingError : public std::runtime_error {
 public:
  /// What a program may branch on.
  enum class Code {
    kInvalid = 1,   ///< The input can never be right: an unknown scheme, weight 0, a name twice.
    kNotFound = 2,  ///< The node named is not in the ring.
    kLimit = 3,     ///< More nodes, points, cuts or bytes than a ring can have.
  };

  /// An error with a message for a person.
  RingError(Code code, const std::string& message);
  ~RingError() override;
  RingError(const RingError&) = default;             ///< Copies.
  RingError& operator=(const RingError&) = default;  ///< Copies.

  /// What a program may branch on; what() is for a person.
  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

/// An immutable ring: nodes placed by a scheme, and cuts laid over them.
///
/// A key has a token of 64 bit; every token has exactly one owner. A value: copies are cheap (they
/// share what they hold) and a change gives a new ring. Moving copies, so that there is no empty
/// ring. Any number of threads may use one ring at once, without locks.
class CLEAVE_RING_API Ring {
 public:
  /// A node. Its index in nodes() is what look-ups tell.
  struct Node {
    std::string name;             ///< Unique; the scheme hashes it: written as the peer has it.
    std::uint32_t weight = 1;     ///< 1 to 1,000,000; only 1 where the peer knows no weights.
    std::string rack = {};        ///< Failure domain in the datacenter. For replicas only.
    std::string datacenter = {};  ///< For replicas only.
  };

  /// An explicit range of tokens whose owner is a node whatever the scheme says.
  struct Cut {
    std::uint64_t first;  ///< Inclusive.
    std::uint64_t last;   ///< Inclusive, not below `first`: a range that wraps is two cuts.
    std::string node;     ///< Name of the owner.
  };

  /// A range of tokens of one owner.
  struct Arc {
    std::uint64_t first;  ///< Inclusive.
    std::uint64_t last;   ///< Inclusive.
    std::size_t node;     ///< Index in nodes().
  };

  /// A range of tokens whose owner differs between two rings.
  struct Change {
    std::uint64_t first;  ///< Inclusive.
    std::uint64_t last;   ///< Inclusive.
    std::string from;     ///< Name of the owner before.
    std::string to;       ///< Name of the owner after.
    double share;         ///< Fraction of all tokens: (last - first + 1) / 2^64.
  };

  /// Options of a scheme by the peer's own names, such as {"hash", "fnv1a_64"} (docs/schemes.md).
  using Options = std::map<std::string, std::string>;

  /// The owner in a batch when the peer places the key nowhere.
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  /// Places nodes by a scheme (docs/schemes.md lists them with their options).
  ///
  /// Names, racks and datacenters are UTF-8 without control characters, at most 255 bytes; values
  /// of options are UTF-8, at most 1 MiB, as in cleave's own pools. At most 100,000 nodes and
  /// 8,388,608 points. Cost: O(points log points).
  /// @throws RingError kInvalid: an unknown scheme or option, no nodes, a name that is empty or
  ///   there twice, a weight out of bounds; kLimit: too many nodes or points.
  Ring(const std::string& scheme, const std::vector<Node>& nodes, const Options& options = {});

  /// The ring that to_text() told of.
  /// @throws RingError kInvalid, with the place of the mistake (`nodes[3].weight`); kLimit.
  static Ring from_text(std::string_view text);

  Ring(const Ring&) noexcept;             ///< Shares what the other holds.
  Ring& operator=(const Ring&) noexcept;  ///< Shares what the other holds.
  ~Ring();

  /// The node that the key lies on; nothing when the peer places such a key nowhere
  /// (docs/schemes.md says which). Keys are any bytes. Allocates in scheme pymemcache only; if
  /// memory runs out there, the process ends, whereas the C interface tells. Cost: hash of the key
  /// + O(1) expected.
  std::optional<std::size_t> locate(std::string_view key) const noexcept;

  /// Looks up `count` keys; `owners[i]` is the node of `keys[i]`, or kNowhere. Cost: less a key
  /// than one by one, because they need not wait for each other: a third by MD5, and half in
  /// rings too large for the processor's cache (docs/reports/ring.md). Best from 32 keys on.
  void locate(const std::string_view* keys, std::size_t count, std::size_t* owners) const noexcept;

  /// Where on the ring the key lies; nothing when nowhere.
  std::optional<std::uint64_t> token_of(std::string_view key) const noexcept;

  /// The node that owns the token.
  std::size_t owner(std::uint64_t token) const noexcept;

  /// Whether the token of a key stays as nodes come and go. Only then cuts and diffs are possible.
  bool fixed_tokens() const noexcept;

  const std::string& scheme() const noexcept;       ///< Name of the scheme.
  const Options& options() const noexcept;          ///< As given; defaults are not filled in.
  const std::vector<Node>& nodes() const noexcept;  ///< In the order given.
  const std::vector<Cut>& cuts() const noexcept;    ///< Sorted by token, disjoint.

  /// Index of the node of that name; nothing when there is none. Cost: O(nodes).
  std::optional<std::size_t> find(std::string_view name) const noexcept;

  /// Every token once, sorted; neighbours of one owner are joined. Cost: O(points + cuts).
  std::vector<Arc> arcs() const;

  /// The fraction of all tokens that each node owns, rounded once. Cost: O(points + cuts).
  std::vector<double> shares() const;

  /// With one node more, the last. Cost: O(points), and the hashes of those of the joiner and of
  /// the nodes it takes from, in vnode, murmur64a-vnode, java-vnode, jedis by name and nginx
  /// consistent; else as the constructor.
  /// @throws RingError as the constructor.
  Ring with_node(const Node& node) const;
  /// Without that node and the cuts it owns. Cost: as the constructor.
  /// @throws RingError kNotFound; kInvalid for the last node.
  Ring without_node(std::string_view name) const;
  /// With another weight of that node. Cost: as the constructor.
  /// @throws RingError kNotFound; kInvalid for the weight.
  Ring with_weight(std::string_view name, std::uint32_t weight) const;
  /// With one cut more, over older ones: what it does not cover of them stays. Cost: O(nodes +
  /// cuts), however many points.
  /// @throws RingError kInvalid when the scheme has no fixed tokens or `last` is below `first`;
  ///   kNotFound; kLimit for more than 100,000 cuts.
  Ring with_cut(const Cut& cut) const;
  /// As the scheme alone places keys.
  Ring without_cuts() const;

  /// Where the owner changes from one ring to the other, sorted by token. Nodes are the same when
  /// their names are. Cost: O(points and cuts of both).
  /// @throws RingError kInvalid unless both place keys by the same scheme and
  /// options (those that only place points may differ) and its tokens are fixed.
  static std::vector<Change> diff(const Ring& before, const Ring& after);

  /// JSON on one line, the same bytes for the same ring, read by from_text() of this and every
  /// later version. Tokens are hexadecimal strings: 64 bit does not survive a JSON number.
  std::string to_text() const;

  /// Same scheme, options, nodes in their order, and cuts.
  friend bool operator==(const Ring& left, const Ring& right) { return left.equals(right); }
  /// The opposite.
  friend bool operator!=(const Ring& left, const Ring& right) { return !left.equals(right); }

  /// The names of all schemes.
  static std::vector<std::string> schemes();

 private:
  friend struct RingAccess;  // the library's other classes
  struct Impl;

  explicit Ring(std::shared_ptr<const Impl> impl) noexcept;
  bool equals(const Ring& other) const noexcept;

  std::shared_ptr<const Impl> impl_;  // never null
};

/// Version of the library's binary interface: that of its file name, libcleave-ring.so.N.
CLEAVE_RING_API int ring_abi_version() noexcept;

}  // namespace cleave

#endif
