// What a driver may ask of one router, the same in one process and over HTTP.
//
//   driver                                   router
//     await_copying(move, phase epoch)  --->   answers when all workers have the view (rule 10)
//     take(move, phase epoch, n)        --->   the dirty set as batch n; kept until take n+1
//     await_fenced(move, phase epoch)   --->   answers when nothing of the range is unfinished,
//                                              with the last dirty set (rule 11)
//
// Everything is matched on (session, move, phase epoch) by equality, never "at least" (rule 4); a
// question about another phase epoch is refused with kConflict.
//
// Threads: one loop; callbacks run on the caller's loop, once for each call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/touched.h"
#include "heat/cost.h"
#include "heat/report.h"

namespace cleave::peer {

// Keys written since the batch before. `whole_range`: some command's keys were not all known, or
// the set outgrew its limit; the move must abort.
struct DirtyBatch {
  std::uint64_t number = 0;
  std::vector<std::string> keys;  // unique within the batch
  bool whole_range = false;
  // Of keys that were watched, and only these elements of them: none of them is among `keys`.
  std::vector<Touched> elements = {};
};

// Which batch is asked for, and the keys whose elements are to be marked from now on (rule 27): all
// of the move, each time. A router that does not do so is right too.
struct TakeOrder {
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a whole order
  TakeOrder(std::uint64_t batch, std::vector<std::string> keys = {})
      : number(batch), watch(std::move(keys)) {}

  std::uint64_t number;
  std::vector<std::string> watch;
};

// A router is done with a fenced range.
struct FencedAck {
  DirtyBatch last;
  // Per node: every incarnation that its commands of the range used since COPYING (rule 19).
  std::map<NodeId, std::vector<Incarnation>> incarnations;
};

class RouterPeer {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  virtual ~RouterPeer() = default;

  virtual void await_copying(MoveId move, Epoch phase_epoch, Done<void> done) = 0;

  // Batch numbers start at 1. Asking again for the batch that was handed out last hands out the
  // same keys; asking for the next forgets them.
  virtual void take(MoveId move, Epoch phase_epoch, const TakeOrder& order,
                    Done<DirtyBatch> done) = 0;

  virtual void await_fenced(MoveId move, Epoch phase_epoch, Done<FencedAck> done) = 0;

  // What was counted since the last call; counters start again, and from then on requests weigh
  // what the servers' own counters say (`prices`; empty: nothing is known yet).
  virtual void take_heat(const heat::CommandPrices& prices,
                         Done<std::vector<heat::Report>> done) = 0;

  // How many keys clients can read, where it leads (peer/key_counter.h). Errors: kUnavailable, also
  // of a router that does not know.
  virtual void count_keys(Done<std::uint64_t> done) = 0;
};

// Sessions to peers. nullptr: nobody is known under that name (yet).
class Directory {
 public:
  virtual ~Directory() = default;
  virtual RouterPeer* find(const SessionId& session) = 0;
};

}  // namespace cleave::peer
