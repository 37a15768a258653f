// DocumentWriter: the control side's one way to the register: linearizable reads, and edits as
// read - change - compare-and-set, one after the other in the order they were asked for.
//
// An edit is a pure function of the document (edits.h); after a lost race it is applied again
// to what won. Its unknown outcomes are settled here: what the register then shows is compared with
// what was tried.
//
//   edit   waits while the register is away: it is what the protocol needs sooner or later
//   order  is for somebody who waits for the answer: it is carried out soon or never
//
//   order -> waiting --deadline--> kUnavailable, forgotten
//               | compare-and-set sent
//               v
//            in the air --deadline--> kTimeout; `settled` is told when the register shows whether
//                                     it landed, which a write of our own that changes nothing
//                                     makes certain: behind it the late one loses its race
//
// A register that shows an older document than one known before was restored from an old backup, or
// lost its newest writes. Nothing that it says is believed from then on, also not once its epochs
// have grown past ours: those are another history. Views stay, edits wait, so no move goes on,
// until it shows the very document that we know, or the process starts again.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/mutation.h"
#include "base/result.h"
#include "control/orders/coordinator_state.h"
#include "coord/register.h"
#include "net/loop.h"
#include "ring/document/document.h"

namespace cleave::control {

using SharedDocument = std::shared_ptr<const ring::Document>;

class DocumentWriter {
 public:
  using Edit = std::function<Result<ring::Document>(const ring::Document&)>;
  using Done = std::function<void(Result<SharedDocument>)>;

  // What became of an order that was answered with kTimeout.
  enum class Fate : std::uint8_t {
    kLanded,
    kLost,     // it did not land and cannot any more
    kUnknown,  // others have written meanwhile: nobody can tell
  };
  using Settled = std::function<void(Fate)>;

  // Edits that may wait at once, beyond which orders and repeated edits are refused.
  static constexpr std::size_t kWaitingMax = 256;

  // `seen` hears each document that is newer than all before it: read, written or watched. It runs
  // before the callback of the read or edit that brought it.
  DocumentWriter(net::Loop& loop, coord::Register& store, std::function<void(SharedDocument)> seen,
                 Mutations mutations);

  // A read begun now. Reads asked for while one is under way share the next one: that, too, begins
  // after they were asked for. kNotFound: there is no document yet.
  void read(Done done);

  // Errors: the edit's own (its precondition does not hold; `seen` has heard the document that it
  // was applied to). While the coordinator is away, or what it holds cannot be read, the edit waits
  // and is tried again; it never fails for that.
  void edit(Edit edit, Done done);
  // The same for what is asked for again and again until it is done: while an edit of the same
  // purpose waits, another one is left out, and its `done` never runs. Errors also: kExhausted.
  void edit_once(const std::string& purpose, Edit edit, Done done);

  // Is answered within `patience`. Errors also: kUnavailable, not written and never will be, with
  // what is wrong at the coordinator; kExhausted, likewise, too many wait; kTimeout, it may still
  // land: `settled` (may be empty) is told once, later.
  void order(Edit edit, milliseconds patience, Done done, Settled settled);

  // Writes this document, of any epoch, iff nothing was ever written.
  void create(ring::Document first, Done done);

  // How the renewal of our lease went: often the only write for a long time. One that failed is
  // followed by a read.
  void note_lease(const Result<void>& renewed);

  SharedDocument newest() const { return newest_; }
  // Empty: the last calls to the register succeeded, reads and writes. Else what does not work, and
  // since when.
  std::string trouble() const;
  // Whether the words are about the coordinator, and not about the edit that was not written.
  static bool of_coordinator(const Error& error);
  // The kind of it: away, until a read that began after a write had failed shows that it answers.
  CoordinatorState state() const;
  // Edits that wait, the one under way included.
  std::size_t waiting() const { return edits_.size(); }

 private:
  // A text that we wanted to be the document of this epoch, and were not told that it is.
  struct Tried {
    Epoch epoch;
    std::string text;
    bool may_land = false;  // nobody knows; else it lost, or had no effect
  };
  struct Wanted {
    std::uint64_t number = 0;
    Edit edit;
    Done done;
    std::string purpose = {};
    Settled settled = {};
    net::TimerId deadline = {};
    std::vector<Tried> tried = {};
    bool missed = false;    // one that might land had its epoch go by unseen
    bool rests = false;     // a write failed: the next one not at once
    bool given_up = false;  // answered already: not to be tried again
  };
  // An order whose compare-and-set may land, with nobody waiting.
  struct Unsettled {
    std::vector<Tried> tried;
    Settled settled;
    bool missed = false;
  };
  // Something that does not work.
  struct Trouble {
    std::string what;
    UnixMillis since;
    std::uint64_t number = 0;  // of the failure
    bool reads_go_on = false;  // seen since
  };

  void begin_read();
  void add(Wanted wanted);
  void refuse_edit(Done done);
  bool is_first(std::uint64_t number) const;
  void next_edit();
  void give_up(std::uint64_t number);
  Error not_written() const;
  void unsettle(const Wanted& over);
  static bool holds(const std::vector<Tried>& tried, const std::string& text);
  void settle_with(Epoch epoch, const std::string& text);
  void write_nothing();
  void note_read(const Error* failed, std::uint64_t failures_before);
  void note_write(const Error* failed);
  void set_trouble(Trouble& trouble, const Error* failed);
  void apply(const ring::Document& document);
  void write(Epoch expected, ring::Document document);
  void written(Result<Epoch> result, SharedDocument document, std::string text);
  void overwrite(const SharedDocument& document);
  void read_and_apply();
  void settle(const SharedDocument& now);
  void retry_later();
  void finish_edit(Result<SharedDocument> result);
  Result<SharedDocument> take_in(const coord::Stored& stored);
  std::unexpected<Error> refuse(const std::string& why);
  bool went_back(const coord::Stored& stored, Epoch known_before);
  void note(SharedDocument document, std::string text);

  net::Loop& loop_;
  coord::Register& store_;
  std::function<void(SharedDocument)> seen_;
  Mutations mutations_;
  SharedDocument newest_;
  std::string newest_text_;
  std::string trouble_;  // with what the register holds
  Trouble away_;         // reads fail
  Trouble read_only_;    // writes of the document fail
  Trouble no_lease_;     // writes of our lease fail
  std::uint64_t failures_ = 0;
  bool went_back_ = false;  // the register did: `trouble_` says so
  bool reading_ = false;
  std::vector<Done> readers_;       // of the read under way
  std::vector<Done> next_readers_;  // of the one after it
  bool editing_ = false;
  bool writing_ = false;      // a compare-and-set of the first edit is under way
  std::deque<Wanted> edits_;  // the first is under way while `editing_`
  std::uint64_t next_number_ = 1;
  std::vector<Unsettled> unsettled_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

// Of `edit_once`: whoever wants it, a move is aborted once.
inline std::string purpose_of_abort(MoveId move) { return "abort " + std::to_string(move.value()); }

}  // namespace cleave::control
