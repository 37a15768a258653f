// MoveBoard: all moves of one leader's term: those that wait, those under way, those that ended.
//
// One outgoing and one incoming move a node; what is wanted beyond that waits its turn. A move that
// cannot take a few keys along is tried again around their tokens, and the keys are published. One
// that a server refused is not: that server is published, and rests.
//
// Threads: one loop.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "control/document/document_writer.h"
#include "control/moves/copy_pace.h"
#include "control/moves/leftover_board.h"
#include "control/moves/move_driver.h"
#include "control/moves/refusal_book.h"
#include "control/moves/throttle.h"
#include "control/observe/node_links.h"
#include "control/orders/status.h"
#include "net/loop.h"
#include "peer/router_peer.h"
#include "ring/view/view.h"

namespace cleave::control {

class MoveBoard {
 public:
  using Begun = std::function<void(Result<MoveId>)>;

  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    peer::Directory& directory;
    NodeLinks& links;
    ring::RingSnapshot view;
    ring::Leader leader;
    Limits limits;
    Mutations mutations;
    std::shared_ptr<CopyCounts> copies;
    std::function<void(const MoveRecord&)> ended;
    std::function<void(DecisionRecord)> decided;
  };

  explicit MoveBoard(Options options);

  // Moves without a driver are aborted (rule 3 did so already; this covers a beginning whose
  // outcome was unknown); leftovers are cleaned.
  void see(const SharedDocument& document);
  // `begun` runs when the document shows the move, or with the refusal. Errors: kExhausted when
  // too many wait. The answer is for `withdraw`.
  std::uint64_t want(ring::MoveRequest request, Begun begun, Tried tried = {});
  // What waits for its turn still is wanted no more: kUnavailable, with what it waited for.
  void withdraw(std::uint64_t ticket);
  // Likewise all that has not begun; answers how many.
  std::size_t forget_waiting(const std::string& why);
  // Somebody takes the move back in the document: what will be told of its end.
  void note_abort(MoveId move, std::string why) { reasons_[move] = std::move(why); }
  // It could not be.
  void forget_abort(MoveId move) { reasons_.erase(move); }
  // Rule 26. `begun` as of `want`. Errors: kConflict, also where there is no such entry.
  void take_back(MoveId entry, Begun begun);
  // Errors: kNotFound; kConflict past the commit.
  Result<void> abort(MoveId move, const std::string& why);
  // Aborts what can be aborted, forgets what waits; `idle()` is true some time later.
  void wind_down(const std::string& why);

  bool idle() const { return drivers_.empty() && waiting_.empty() && leftovers_.idle(); }
  std::size_t waiting() const { return waiting_.size(); }
  // Clients wait at a fence now: whatever can wait should.
  bool fencing() const;
  std::vector<MoveStatus> status() const;
  std::vector<LeftoverStatus> leftovers() const { return leftovers_.status(); }
  // Why the node should not be the source, or the destination, of a planned move: what its server
  // said when it was last asked, while it rests; else "".
  std::string refusal(NodeId node, backend::End end) const {
    return refusals_.words(node, end, options_.loop.now());
  }

 private:
  struct Wanted {
    std::uint64_t ticket = 0;
    ring::MoveRequest request;
    Begun begun;
    Tried tried = {};
  };

  void tick();
  void pace_copies();
  void start_what_can();
  bool node_free(NodeId source, NodeId destination) const;
  bool uses(NodeId node) const;
  MoveDriver::Options driver_options(NodeId source, NodeId destination, Begun begun,
                                     Tried tried = {});
  void launch(std::unique_ptr<MoveDriver> driver);
  void abort_strays();
  void over(MoveDriver& driver);
  void try_again(const MoveDriver& driver);
  void go_around(const MoveDriver& driver);
  std::optional<Refused> stopped_by(const MoveDriver& driver) const;
  void remember(const MoveDriver& driver);

  Options options_;
  CopyPace pace_;
  Throttle throttle_;
  std::uint64_t ticks_ = 0;
  SharedDocument document_;
  LeftoverBoard leftovers_;
  std::deque<Wanted> waiting_;
  std::uint64_t tickets_ = 0;
  std::map<MoveId, std::string> reasons_;  // of aborts by a person
  std::vector<std::unique_ptr<MoveDriver>> drivers_;
  RefusalBook refusals_;
  bool winding_down_ = false;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
