// Ledger: the leader's books of heat. Reports go in, a Picture comes out.
//
//   router 1, worker 1 --report/s--> fold --\                       +-> series of each range
//   router 1, worker 2 --report/s--> fold ---+-> tick (each 2 s) ---+
//   router 2 ...                            -/                      +-> samples of the last 30 s
//
// Each recorder's amounts are divided by the time that it says it counted, not by the time that
// passed here, so reports may come late or in pairs. A recorder that falls silent keeps its last
// rates for 3 s; then they fade with a half-life of 10 s, and after 60 s it is forgotten.
//
// When load shifts from one node to another for three ticks in a row, what was counted before does
// not describe it any more: means and samples begin again with those three ticks. Otherwise a
// planner that acts at once would see a mixture of both loads for ten seconds, and serve neither.
//
// When the ring changes, and for a report of another ring, load goes with the tokens: by overlap,
// shared out by the samples where there are enough, else by width. Nothing is lost on the way.
//
// Memory: O(entries x recorders + samples). Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/picture.h"
#include "heat/report.h"
#include "heat/samples.h"
#include "heat/series.h"
#include "ring/view/view.h"

namespace cleave::heat {

enum class Folded : std::uint8_t { kAccepted, kDuplicated, kAbsurd, kStale };

class Ledger {
 public:
  static constexpr nanoseconds kTick = seconds{2};  // how often `tick` is meant to be called
  static constexpr nanoseconds kSilentAfter = seconds{3};
  static constexpr nanoseconds kFadeHalfLife = seconds{10};
  static constexpr nanoseconds kForgetAfter = seconds{60};
  static constexpr nanoseconds kCoversMax = seconds{30};  // a longer report is stale

  explicit Ledger(Instant now) : began_(now), ticked_(now) {}

  // Cost: O(entries); with samples O(n log n) the first time after a tick.
  void set_view(ring::RingSnapshot view);

  // A refused report adds no load and is counted by its reason; a stale one still shows that its
  // recorder lives. Cost: O(sums log entries). Requires: set_view was called.
  Folded fold(const SessionId& session, const Report& report, Instant now);

  // The session is not a router any more: what it last counted is not load any more.
  void forget(const SessionId& session);

  // Turns what was folded since the last tick into rates. A call without time passed does nothing.
  void tick(Instant now);

  // As of the last tick. Requires: set_view was called.
  Picture picture(Instant now) const;

 private:
  struct Book {  // of one recorder
    std::uint64_t sequence = 0;
    Instant heard{0};
    nanoseconds covered{0};        // of `pending`
    std::vector<Amounts> pending;  // one an entry of the view
    std::vector<Amounts> rates;    // likewise, a second
  };
  struct HotKeyBook {
    Token token;
    std::uint64_t pending = 0;
    std::uint64_t pending_error = 0;
    std::uint64_t rate = 0;
    std::uint64_t error = 0;
  };
  // Where the load of a range goes in a view.
  struct Share {
    std::uint32_t entry;
    Fraction fraction;
  };
  using BookId = std::pair<SessionId, std::uint64_t>;

  std::vector<Share> shares(const ring::TokenRange& range, const ring::RingView& view) const;
  Folded judge(const BookId& id, const Report& report) const;
  void fold_keys(const std::vector<HotKey>& keys);
  void tick_books(Instant now, nanoseconds elapsed);
  void tick_keys(nanoseconds elapsed);
  bool load_shifted() const;
  void add_ranges(Picture& picture) const;
  void add_tokens(Picture& picture) const;
  void add_keys(Picture& picture) const;

  Instant began_;
  Instant ticked_;
  ring::RingSnapshot view_;
  std::map<BookId, Book> books_;
  std::vector<Series> series_;  // one an entry of the view
  SampleBook samples_;
  Shape shape_;  // of the samples, as of the last tick
  std::map<std::string, HotKeyBook> keys_;
  Refused refused_;
};

}  // namespace cleave::heat
