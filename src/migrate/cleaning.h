// Cleaning: one entry of the leftovers as a state machine (protocol rule 23). It decides what is
// done next; it does nothing itself.
//
//   quiet -> sweep -> look -> [judge] -> pages ... -> look again -> drop -> over
//     ^         |       |        |          |             |          |
//     +---------+-------+--------+----------+-------------+----------+   (anything failed: later
//                                |                                        again, from the start)
// +--> keep -> over (the holder lost its data, or another server is there: a person decides)
//
// Nothing is deleted before (a) all commands of our own earlier moves on the node are finished, (b)
// those of older leaders are ended, (c) the server is this pool's, (f) it is the one that the entry
// was made for, and (e) the holder of a committed move was found to have everything still; and the
// last two are compared again beside every page.
//
// Threads: one owner. Pure: the same events give the same actions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/mutation.h"
#include "base/result.h"
#include "migrate/migration.h"
#include "ring/document/document.h"
#include "ring/edits/edits.h"

namespace cleave::migrate {

// ---- events (all are legal in every step; late ones change nothing) ----------------------------

// Answer to LookAt. `holder` only where the entry has one.
struct LookedAt {
  ServerFacts node;
  std::optional<ServerFacts> holder;
};
// Answer to CleanPage: what it deleted, and what of that the owner of the range does not have:
// deleted there since, or put there by somebody who went past the routers (rule 25). Such keys stay
// where the entry spares them.
struct PageCleaned {
  std::uint64_t deleted = 0;
  std::uint64_t unknown = 0;
  std::uint64_t spared = 0;
  std::vector<std::string> examples{};
  bool last = false;
};
struct Quiet {};  // answer to AwaitQuiet

using CleaningEvent = std::variant<Start, Quiet, Swept, LookedAt, PageCleaned, Written,
                                   WriteRefused, DocumentSeen, Failed, Tick>;

// ---- actions -----------------------------------------------------------------------------------

enum class CleaningChange : std::uint8_t { kBegun, kKept, kDrop };

struct AwaitQuiet {};  // rule 23 a -> Quiet
struct SweepNode {};   // rule 23 b -> Swept
struct LookAt {};   // rule 23 c, e and f: INFO, marker, of the node and of the holder -> LookedAt
struct CleanPage {  // UNLINK of one page of a listing -> PageCleaned
  bool from_start = false;
};
struct WriteEntry {  // compare-and-set -> Written | WriteRefused
  CleaningChange change = CleaningChange::kDrop;
};

using CleaningAction = std::variant<AwaitQuiet, SweepNode, LookAt, CleanPage, WriteEntry, Over>;
using CleaningActions = std::vector<CleaningAction>;

// Where a cleaning is; in the order of the picture above.
enum class CleaningStep : std::uint8_t {
  kQuiet,
  kSweep,
  kLook,
  kJudge,
  kPages,
  kVerify,
  kDrop,
  kKeep,
  kWaiting,  // something failed: again in a while
  kOver,
};
std::string_view to_string(CleaningStep step);

// What was found and done so far.
struct CleaningProgress {
  std::uint64_t deleted = 0;
  std::uint64_t unknown = 0;          // of these, those that the owner does not have
  std::uint64_t spared = 0;           // not deleted, because the owner does not have them
  std::vector<std::string> examples;  // of the unknown and the spared; a few
};

class Cleaning {
 public:
  struct Options {
    Mutations mutations;
  };

  explicit Cleaning(ring::Leftover entry, Options options = {});

  CleaningActions step(const CleaningEvent& event, Instant now);

  // The edit behind a WriteEntry, to be applied to the document as it is at the compare-and-set.
  // The caller has checked that it is still the leader of its term.
  Result<ring::Document> edit(CleaningChange change, const ring::Document& document) const;

  CleaningStep at() const { return step_; }
  bool is_over() const { return step_ == CleaningStep::kOver; }
  // As it was last read.
  const ring::Leftover& entry() const { return entry_; }
  // Why it cannot go on now; empty while it works.
  const std::string& waits_for() const { return waits_for_; }
  // What it last failed at, through all tries since something went well, and when that was.
  const std::string& stuck() const { return stuck_; }
  Instant went_well() const { return went_well_; }
  const CleaningProgress& progress() const { return progress_; }

 private:
  CleaningActions on(const Start& event, Instant now);
  CleaningActions on(const Quiet& event, Instant now);
  CleaningActions on(const Swept& event, Instant now);
  CleaningActions on(const LookedAt& event, Instant now);
  CleaningActions on(const PageCleaned& event, Instant now);
  CleaningActions on(const Written& event, Instant now);
  CleaningActions on(const WriteRefused& event, Instant now);
  CleaningActions on(const DocumentSeen& event, Instant now);
  CleaningActions on(const Failed& event, Instant now);
  CleaningActions on(const Tick& event, Instant now);

  void check_rules() const;
  CleaningActions enter(CleaningStep step, CleaningActions actions);
  CleaningActions later(std::string why, Instant now);
  CleaningActions looked_first(const LookedAt& event, Instant now);
  CleaningActions clean_page();
  CleaningActions keep(std::string why);
  // Why nothing may be deleted, after that look; empty: nothing is against it.
  std::string against(const LookedAt& event) const;

  ring::Leftover entry_;
  Options options_;
  CleaningStep step_ = CleaningStep::kQuiet;
  bool swept_ = false;    // in the pass under way
  Incarnation node_;      // likewise
  bool listing_ = false;  // its first page was asked for
  std::uint32_t failures_ = 0;
  Instant again_at_{0};
  std::string waits_for_;
  std::string stuck_;
  Instant went_well_{0};
  std::string keeps_for_;  // why a person has to decide
  CleaningProgress progress_;
};

// How the reason of a kept entry begins where rule 23 f keeps it.
inline constexpr std::string_view kAnotherServer = "another server is at the node's address now";

// Whether `now` has everything that the holder of the entry had at the commit: it is the same life
// of the server, or one that was promoted after it had received the last copy (rule 23 e).
bool has_everything(const ring::Leftover& entry, const ServerFacts& now);

}  // namespace cleave::migrate
