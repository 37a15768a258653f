// MoveDesk: where the driver's questions about moves meet what the workers say (protocol rules 10
// and 11, from the process's point of view).
//
//   driver --await_copying--+                        +-- adopted(worker, epoch) -- workers
//          --take(n)--------+--> one entry a move <--+-- collect ----------------> workers
//          --await_fenced---+                        +-- cleared(worker, ack) ---- workers
//
// No threads and no loops inside: the DataPath brings everything to the control loop. Answers run
// within the call that makes them possible; the DataPath defers them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/mutation.h"
#include "peer/router_peer.h"
#include "proxy/moves/dirty_set.h"
#include "ring/view/view.h"

namespace cleave::proxy {

class MoveDesk {
 public:
  template <class T>
  using Done = peer::RouterPeer::Done<T>;

  // Asks every worker for its dirty set of the move, and tells it whose elements to note from then
  // on; the answer comes by `collected`, once for each worker.
  using Collect = std::function<void(MoveId, const std::vector<std::string>& watch)>;

  struct Options {
    std::size_t workers = 1;
    Limits limits;
    Mutations mutations;
    Collect collect;
  };

  explicit MoveDesk(Options options);

  // The view that the workers are being told next. Requires: newer than the one before.
  void set_view(const ring::RingSnapshot& view);
  // Fails every question that is open.
  void stop(const Error& why);

  // ---- the driver -----------------------------------------------------------------------------
  void await_copying(MoveId move, Epoch phase_epoch, Done<void> done);
  void take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
            Done<peer::DirtyBatch> done);
  void await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done);

  // ---- the workers ----------------------------------------------------------------------------
  void adopted(std::size_t worker, Epoch epoch);
  void collected(std::size_t worker, MoveId move, const peer::DirtyBatch& keys);
  void cleared(std::size_t worker, MoveId move, Epoch phase_epoch, const peer::FencedAck& part);

 private:
  // One move, as long as the view shows it in COPYING or FENCED.
  struct Entry {
    Entry(std::size_t keys_max, std::size_t workers)
        : gathered(keys_max), last(keys_max), clear(workers, false) {}

    ring::Phase phase = ring::Phase::kCopying;
    Epoch phase_epoch;
    Epoch copying_epoch;                    // 0: it was never seen in COPYING
    std::optional<peer::DirtyBatch> batch;  // handed out last
    std::uint64_t number = 0;               // of `batch`, or of the one being gathered
    std::size_t missing = 0;                // workers that still owe their part of it
    DirtySet gathered;
    std::vector<Done<peer::DirtyBatch>> takers;
    DirtySet last;            // FENCED
    std::vector<bool> clear;  // by worker
    std::optional<peer::FencedAck> ack;
  };

  // A question about a phase that is not there yet.
  template <class T>
  struct Question {
    MoveId move;
    Epoch phase_epoch;
    Done<T> done;
  };

  Entry* find(MoveId move);
  bool is_past(MoveId move, Epoch phase_epoch, ring::Phase phase);
  bool matches(Epoch known, Epoch asked) const;
  void follow(const ring::Move& move);
  void drop_entries();
  void finish_gathering(Entry& entry);
  void answer_copying();
  void answer_fenced();

  Options options_;
  ring::RingSnapshot view_;
  std::vector<Epoch> adopted_;  // by worker
  std::map<MoveId, Entry> entries_;
  std::vector<Question<void>> copying_;
  std::vector<Question<peer::FencedAck>> fenced_;
};

}  // namespace cleave::proxy
