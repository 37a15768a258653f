// LeftoverBoard: one leader's cleaning of the document's leftovers (protocol rule 23): one Cleaner
// for each entry that no move uses and no person has to decide about, one at a time on a node, and
// none on a node whose moves are under way.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "control/document/document_writer.h"
#include "control/moves/cleaner.h"
#include "control/observe/node_links.h"
#include "control/orders/status.h"
#include "net/loop.h"

namespace cleave::control {

class LeftoverBoard {
 public:
  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    NodeLinks& links;
    ring::Leader leader;
    Mutations mutations;
    std::shared_ptr<CopyCounts> copies;
    // Moves of this term use the node now.
    std::function<bool(NodeId)> moving;
    std::function<void(DecisionRecord)> decided;
  };

  explicit LeftoverBoard(Options options);

  // Begins to clean what the document shows; tells the cleaners under way.
  void see(const SharedDocument& document);

  // A move must wait: the node is being cleaned, or is about to be.
  bool wants(NodeId node) const;
  // Nothing is being cleaned. What cannot be cleaned now does not count.
  bool idle() const;
  std::vector<LeftoverStatus> status() const;

 private:
  std::unique_ptr<Cleaner> make(const ring::Leftover& entry);
  bool is_first_of_its_node(const Cleaner& cleaner) const;
  void over(Cleaner& cleaner);
  void tell_stuck(const Cleaner& cleaner, LeftoverStatus& status) const;

  Options options_;
  SharedDocument document_;
  ring::RingSnapshot view_;
  MoveId newest_at_start_;
  std::vector<std::unique_ptr<Cleaner>> cleaners_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
