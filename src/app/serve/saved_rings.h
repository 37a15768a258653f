// SavedRings: the rings that a router has seen, as files of its own machine, so that a coordinator
// that loses its data can be given its ring back (docs/OPERATIONS.md, "Disaster recovery").
//
//   cleave.db.rings/main-5f0c9a1e-0000000000000042.ring      pool, ring, epoch
//
// One more for each change of what matters (nodes, cuts, moves, owners, not who routes or leads);
// the newest follows the epoch. A bounded number of this ring stays, and the last of others. Files
// are written whole or not at all, and lie on the disk before they have their name.
//
// Threads: `see` from one; the writing is done by a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "ring/view/view.h"

namespace cleave::app {

// The text of such a file: docs/formats/ring-document.md, "A saved ring".
std::string saved_ring_text(std::string_view document, const ring::Document& of, UnixMillis now);

// The ring document in the text of such a file; a bare document is taken as well. Errors: kInvalid.
Result<ring::Document> parse_saved_ring(std::string_view text);

// What a ring is but for who routes and leads it, and how far its moves are.
bool same_ring(const ring::Document& one, const ring::Document& other);

class SavedRings {
 public:
  struct Options {
    std::string directory;  // made if it is not there
    const Clock& clock;
    std::function<void(const std::string&)> trouble;  // any thread; once for each kind of trouble
  };

  explicit SavedRings(Options options);
  // Writes what is still to be written.
  ~SavedRings();
  SavedRings(const SavedRings&) = delete;
  SavedRings& operator=(const SavedRings&) = delete;

  // A view, or one seen before; in between it is not waited for: only the newest is written.
  void see(ring::RingSnapshot view);

 private:
  void work();
  void recall(const std::string& name);
  void save(const ring::Document& document);
  Result<void> write(const std::string& name, const std::string& text);
  void keep_newest(const std::string& newest);

  Options options_;
  // The thread's own.
  std::optional<ring::Document> saved_;
  std::string saved_name_;
  std::string told_;

  std::mutex mutex_;
  std::condition_variable changed_;
  ring::RingSnapshot next_;  // guarded by mutex_, as is:
  bool stopping_ = false;

  std::thread thread_;  // last: it uses the others
};

}  // namespace cleave::app
