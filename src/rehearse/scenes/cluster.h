// Keys on servers while the ring changes, without servers: every edit that a running pool would
// write is made, and after each one the owner of every key must hold it.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

class Cluster {
 public:
  // Each key lies on its owner. Requires: a valid document.
  Cluster(ring::Document document, std::vector<Token> keys);

  // The document changes by an edit that changes no owner. Requires: it succeeded.
  void apply(Result<ring::Document> next);

  // A whole move: COPYING, keys copied, FENCED, COMMIT, CLEAN, done. Requires: it can begin.
  void move(const ring::MoveRequest& request);

  const ring::Document& document() const { return view_->document(); }
  const ring::RingView& view() const { return *view_; }
  const std::vector<Token>& keys() const { return keys_; }

  // Of one node; keys of the whole cluster that its owner holds.
  std::uint64_t keys_of(NodeId node) const;

  std::uint64_t moves() const { return moves_; }
  std::uint64_t keys_moved() const { return keys_moved_; }

  // Keys that a document's owner did not hold, summed over every document there was.
  std::uint64_t reads_missed() const { return reads_missed_; }

 private:
  void adopt(const Result<ring::Document>& next);

  ring::RingSnapshot view_;
  std::vector<Token> keys_;
  std::map<NodeId, std::vector<bool>> held_;  // by node, by key
  std::uint64_t moves_ = 0;
  std::uint64_t keys_moved_ = 0;
  std::uint64_t reads_missed_ = 0;
};

}  // namespace cleave::rehearse
