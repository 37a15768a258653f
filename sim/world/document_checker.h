// DocumentChecker: watches every change of the ring document and says which of them the protocol
// does not allow (docs/formats/move-protocol.md, "Document").
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coord/register.h"
#include "ring/document/document.h"
#include "ring/view/view.h"

namespace cleave::sim {

// Whether the change to `after` commits the move, or takes its range back.
bool is_committed(const ring::Move& move, const ring::Document& after);

// Which of a world's servers is that node: both are in the same order.
std::size_t server_of(const ring::RingView& view, NodeId node);

class DocumentChecker {
 public:
  void see(const coord::Stored& stored, Instant now);

  const ring::RingSnapshot& view() const { return view_; }
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t begun() const { return begun_; }
  std::uint64_t committed() const { return committed_; }
  std::uint64_t aborted() const { return aborted_; }
  nanoseconds longest_fence() const { return longest_fence_; }

 private:
  void compare(const ring::RingView& before, const ring::RingView& after, Instant now);
  void compare_move(const ring::Move* before, const ring::Document& now_document, MoveId id,
                    Instant now);
  void compare_owners(const ring::RingView& before, const ring::RingView& after);
  void violation(const std::string& text);

  ring::RingSnapshot view_;
  std::vector<std::string> violations_;
  std::map<MoveId, Instant> fenced_at_;
  std::uint64_t begun_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t aborted_ = 0;
  nanoseconds longest_fence_{0};
};

}  // namespace cleave::sim
