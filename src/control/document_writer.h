// DocumentWriter: the control side's one way to the register: linearizable reads, and edits as
// read - change - compare-and-set, one after the other in the order they were asked for.
//
// An edit is a pure function of the document (ring/edits.h); after a lost race it is applied again
// to what won. Its unknown outcomes are settled here: what the register then shows is compared with
// what was tried.
//
// A register that shows an older document than one known before was restored from an old backup, or
// lost its newest writes. Nothing that it says is believed from then on, also not once its epochs
// have grown past ours: those are another history. Views stay, edits wait, so no move goes on,
// until it shows the very document that we know, or the process starts again.
//
// Threads: one loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutation.h"
#include "base/result.h"
#include "coord/register.h"
#include "net/loop.h"
#include "ring/document.h"

namespace cleave::control {

using SharedDocument = std::shared_ptr<const ring::Document>;

class DocumentWriter {
 public:
  using Edit = std::function<Result<ring::Document>(const ring::Document&)>;
  using Done = std::function<void(Result<SharedDocument>)>;

  // `seen` hears each document that is newer than all before it: read, written or watched. It runs
  // before the callback of the read or edit that brought it. `log` is told once of each document
  // that cannot be read, such as one of a newer cleave.
  DocumentWriter(net::Loop& loop, coord::Register& store, std::function<void(SharedDocument)> seen,
                 std::function<void(const std::string&)> log, Mutations mutations);

  // A read begun now. Reads asked for while one is under way share the next one: that, too, begins
  // after they were asked for. kNotFound: there is no document yet.
  void read(Done done);

  // Errors: the edit's own (its precondition does not hold; `seen` has heard the document that it
  // was applied to). While the coordinator is away, or what it holds cannot be read, the edit waits
  // and is tried again; it never fails for that.
  void edit(Edit edit, Done done);

  // Writes this document, of any epoch, iff nothing was ever written.
  void create(ring::Document first, Done done);

  SharedDocument newest() const { return newest_; }
  // Empty: the last call to the register succeeded.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Wanted {
    Edit edit;
    Done done;
    std::vector<std::string> tried;  // texts whose compare-and-set had an unknown outcome
  };

  void begin_read();
  void next_edit();
  void apply(const ring::Document& document);
  void write(Epoch expected, ring::Document document);
  void written(Result<Epoch> result, SharedDocument document, std::string text);
  void overwrite(const SharedDocument& document);
  void read_and_apply();
  void settle(const SharedDocument& now);
  void retry_later();
  void finish_edit(Result<SharedDocument> result);
  Result<SharedDocument> take_in(const coord::Stored& stored);
  std::unexpected<Error> refuse(const coord::Stored& stored, const std::string& why);
  bool went_back(const coord::Stored& stored, Epoch known_before);
  void note(SharedDocument document);

  net::Loop& loop_;
  coord::Register& store_;
  std::function<void(SharedDocument)> seen_;
  std::function<void(const std::string&)> log_;
  Mutations mutations_;
  SharedDocument newest_;
  std::string newest_text_;
  std::string trouble_;
  Epoch refused_;           // of the last document that could not be read
  bool went_back_ = false;  // the register did: `trouble_` says so
  bool reading_ = false;
  std::vector<Done> readers_;       // of the read under way
  std::vector<Done> next_readers_;  // of the one after it
  bool editing_ = false;
  std::deque<Wanted> edits_;  // the first is under way while `editing_`
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
