// CopyCounts: how many copies of moves lie on which server, so that a key is counted once.
//
//   copying     the destination has so many keys that it does not own yet
//   committed   the source has as many that it does not own any more
//   aborted     the destination still has them
//   cleaning    fewer with every page, until the entry is off the document
//
// Told by the replies to the copies themselves, on the connection that wrote them: a DBSIZE on the
// same connection is answered behind them, so that the two fit to the key. What is not known here,
// and so is counted twice: copies that a leader before this one made, until they are cleaned;
// entries that are kept for a person; for a moment, the hidden key of a value in pieces. A copy
// whose time has come is taken off once too often, until its move is over.
//
// Threads: one loop. Shared with callbacks that outlive their move, whose copies lie there too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "ring/document/document.h"

namespace cleave::control {

// Of one move.
struct CopyCount {
  MoveId move = {};  // 0: it has not begun
  NodeId node = {};  // where they lie
  std::int64_t keys = 0;
};

class CopyCounts {
 public:
  std::shared_ptr<CopyCount> begin(NodeId destination) {
    CHECK(destination != NodeId{});
    counts_.push_back(std::make_shared<CopyCount>(CopyCount{.node = destination}));
    return counts_.back();
  }

  // nullptr: not known.
  std::shared_ptr<CopyCount> of(MoveId move) const {
    const auto found =
        std::ranges::find_if(counts_, [move](const auto& count) { return count->move == move; });
    return found == counts_.end() ? nullptr : *found;
  }

  // Whoever adds up several servers must begin anew where this has changed meanwhile.
  void committed(CopyCount& count, NodeId source) {
    CHECK(count.move != MoveId{} && count.node != source);
    count.node = source;
    ++commits_;
  }
  std::uint64_t commits() const { return commits_; }

  // Those of moves that left nothing behind, or what a person has to decide about.
  void follow(const ring::Document& document) {
    std::erase_if(counts_, [&](const auto& count) {
      if (count->move == MoveId{}) return count.use_count() == 1;
      const ring::Leftover* left = ring::find_leftover(document, count->move);
      return ring::find_move(document, count->move) == nullptr && (left == nullptr || left->kept());
    });
  }

  std::uint64_t at(NodeId node) const {
    std::int64_t sum = 0;
    for (const auto& count : counts_) {
      if (count->node == node) sum += std::max<std::int64_t>(count->keys, 0);
    }
    return static_cast<std::uint64_t>(sum);
  }

  // The node has so many keys in all: of these, those that are no copies. More copies than keys
  // there cannot be: somebody has flushed.
  std::uint64_t without_copies(NodeId node, std::uint64_t keys) {
    for (const auto& count : counts_) {
      if (count->node == node) count->keys = std::min(count->keys, static_cast<std::int64_t>(keys));
    }
    return keys - std::min(keys, at(node));
  }

 private:
  std::vector<std::shared_ptr<CopyCount>> counts_;
  std::uint64_t commits_ = 0;
};

}  // namespace cleave::control
