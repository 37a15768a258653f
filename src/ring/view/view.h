// RingView: the immutable answer to "who owns this key now, and is its range on the move?"
//
//   tokens  0 ............................................................ 2^64-1
//   base    |  a  | b |  a |   c   |  b  |   ...            (scheme: nodes x points)
//   cuts         [ c ]         [a ]                          laid over it
//   moves                      [a ] -> b  COPYING            marks the ranges on the move
//   entries |  a |c | b | a|c  |a  |  b  |                   what `find` returns: flat, sorted
//
// Built from a Document and never changed; workers swap the whole snapshot (shared_ptr).
// Threads: any, read-only. Cost: `find` O(1) expected through a radix index on the top bits, no
// allocation; `build` O(entries), and O(points log points) where the base is a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/arc_table.h"
#include "ring/document/base_ring.h"
#include "ring/document/document.h"
#include "ring/token_index.h"
#include "ring/token_range.h"

namespace cleave::ring {

// Position of an entry in one view; meaningless in another.
using RangeIndex = Strong<struct RangeIndexTag, std::uint32_t>;

inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;

// A maximal interval with one owner, one cut (or none) and one move (or none).
struct Entry {
  TokenRange range;
  NodeId node;                 // whom to ask: the owner
  std::uint32_t cut = kNone;   // index into document().cuts
  std::uint32_t move = kNone;  // index into document().moves

  friend bool operator==(const Entry&, const Entry&) = default;
};

class RingView {
 public:
  // `before`: a view that this one shares its base with, if that is the same; or nullptr. Errors:
  // kInvalid for an invalid document.
  static Result<std::shared_ptr<const RingView>> build(Document document,
                                                       const RingView* before = nullptr);

  const Document& document() const { return document_; }
  Epoch epoch() const { return document_.epoch; }

  // Entries in token order; together they cover every token exactly once.
  std::span<const Entry> entries() const { return entries_; }
  const Entry& entry(RangeIndex index) const {
    CHECK(index.value() < entries_.size());
    return entries_[index.value()];
  }

  // The entry that holds the token.
  RangeIndex find(Token token) const { return RangeIndex{index_.find(token)}; }

  // The key's place by the scheme. A key that the peer has no place for, because it refuses it or
  // spreads such keys round robin, has the first token.
  Token token_of(std::string_view key) const;

  // Whether ranges can be cut and moved: the scheme's tokens do not depend on the nodes.
  bool cuttable() const { return base_->placement->fixed_tokens(); }

  NodeId owner(Token token) const { return entry(find(token)).node; }

  // The move whose ranges hold the token, or nullptr.
  const Move* move_at(Token token) const;

  // Whom the base alone would give the tokens of the range to: covers it, in token order. Cost:
  // O(log arcs of the base + arcs in the range).
  std::vector<Arc> base_in(const TokenRange& range) const;

  // All tokens that the node owns, canonical.
  RangeSet owned_by(NodeId node) const;

 private:
  explicit RingView(Document document) : document_(std::move(document)) {}

  Document document_;
  std::vector<Entry> entries_;
  std::shared_ptr<const BaseRing> base_;
  TokenIndex index_;  // over the entries
};

using RingSnapshot = std::shared_ptr<const RingView>;

}  // namespace cleave::ring
