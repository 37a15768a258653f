// Moving: what one worker knows about the moves of its view (protocol rules 9 to 11).
//
//   COPYING, FENCED   the keys of finished writes go into the move's dirty set; of keys that the
//                     driver watches only the elements, where a write names them (rule 27)
//   FENCED            commands of the range that are under way are counted down; at none left the
//                     control side is told, once, with the dirty set
//
// Pure bookkeeping: the worker holds the commands and sends them. Threads: one worker.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/mutation.h"
#include "peer/router_peer.h"
#include "proxy/commands/command.h"
#include "proxy/moves/dirty_set.h"
#include "ring/view/view.h"

namespace cleave::proxy {

class Moving {
 public:
  // A fence is clear: nothing of its range is under way in this worker any more.
  using Cleared = std::function<void(MoveId, Epoch phase_epoch, peer::FencedAck)>;

  Moving(const Limits& limits, const Mutations& mutations, Cleared cleared)
      : limits_(limits), mutations_(mutations), cleared_(std::move(cleared)) {}

  // Follows a newer view. Moves that are new to it start with an empty dirty set; those that are
  // gone or committed are forgotten. `unfinished`: all that were sent and are not finished.
  void adopt(const ring::RingView& view, const CommandList& unfinished);

  // No move can concern any command: the fast way out.
  bool idle() const { return moves_.empty(); }
  // Some range is held.
  bool fencing() const { return fences_ > 0; }
  // Rule 9: the command must wait. `view` is the one adopted last; the command's `index` is of it.
  bool must_hold(const Command& command, const ring::RingView& view) const;

  // A reply came, or the outcome is unknown: remembers which incarnation served the command.
  // Requires: called while the pipe's identity is still that of the command's connection.
  void served(const Command& command);

  // Rule 10: to be called once for each command that was sent, when it is finished and off the list
  // of unfinished ones, before its reply goes on. `ran`: it may have run.
  void finished(const Command& command, bool ran);

  // The dirty set so far, which is empty then; whatever the phase. Empty when the move is unknown.
  // From now on the elements of the keys in `watch` are noted.
  peer::DirtyBatch take(MoveId move, const std::vector<std::string>& watch = {});
  // Some key is watched: the one test that every request pays.
  bool watching() const { return watching_; }
  // Whether the command has a key that is watched. To be asked when it is sent.
  bool watches(const Command& command, std::string_view raw) const;

  // Only for the simulator: see Mutations::leave_fence_alone and mark_at_send.
  void break_fence(MoveId move, Epoch phase_epoch);
  void mark(const Command& command);

 private:
  struct Used {
    NodeId node;
    const backend::Pipe* pipe = nullptr;
    std::uint64_t connection = 0;  // PipeStats::reconnects
    Incarnation incarnation;
  };

  struct Open {
    MoveId id;
    ring::RangeSet ranges;
    ring::Phase phase = ring::Phase::kCopying;
    Epoch phase_epoch{};
    DirtySet dirty;
    std::set<std::string, std::less<>> watched{};
    std::vector<Used> used{};
    std::size_t unfinished = 0;  // FENCED: commands of the range under way
    bool cleared = false;
    bool broken = false;  // break_fence
  };

  bool is_mutated() const;
  Open* find(MoveId move);
  bool concerns(const Open& move, const Command& command) const;
  void note(Open& move, const Command& command, const KeyRef& key);
  void fence(Open& move, const CommandList& unfinished);
  void clear(Open& move);

  Limits limits_;
  Mutations mutations_;
  Cleared cleared_;
  std::vector<Open> moves_;
  std::size_t fences_ = 0;
  bool watching_ = false;
};

}  // namespace cleave::proxy
