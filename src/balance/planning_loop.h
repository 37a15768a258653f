// PlanningLoop: what surrounds the planner from tick to tick. Facts and reports go in, a plan comes
// out; between two of them it keeps what the next one has to know.
//
//   reports of heat --fold--> ledger --look--> picture --+
//   moves that ended --ended--> history, real gains -----+--step--> plan --> moves, merges, reasons
//   facts of the nodes, orders, the time ----------------+           |
//                       trigger of the plan before <-----------------+
//
// Whoever leads a pool has one: a router (control/plan/balancer.h), a rehearsed pool
// (rehearse/leader.h) and the closed pool of the tests (balance/closed_pool_testing.h).
//
// Pure: the times are told. Threads: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "balance/input/input.h"
#include "balance/plan/plan.h"
#include "balance/planner.h"
#include "base/clock.h"
#include "base/ids.h"
#include "heat/ledger.h"
#include "heat/picture.h"
#include "heat/report.h"
#include "ring/view/view.h"

namespace cleave::balance {

// What a tick is told beside heat and past moves: the fields of Input that bear these names.
struct TickFacts {
  std::vector<NodeFacts> nodes = {};
  Orders orders = {};
  std::vector<UsualLevel> usual = {};
  std::vector<Expected> expected = {};
  Constants constants = {};
  UnixMillis now = {};
  std::uint64_t seed = 0;
};

// A planned move that has begun, and what its gain will be measured against.
struct Promise {
  PlannedMove planned = {};
  std::uint64_t total_before = 0;  // load of the whole pool when it began, as then seen
};

class PlanningLoop {
 public:
  // When a move's gain is measured: the mean of 30 s has forgotten the time before the move.
  static constexpr seconds kGainAfter{60};
  // How long a move that is over is remembered.
  static constexpr milliseconds kRemembered{24LL * 3'600'000};

  // Decides instead of `plan`: the rules of other systems, in a rehearsal.
  using Planner = std::function<Plan(const Input&)>;

  explicit PlanningLoop(Instant now) : ledger_(now) {}

  void set_view(const ring::RingSnapshot& view);

  // Requires: set_view was called.
  void fold(const SessionId& session, const heat::Report& report, Instant now) {
    (void)ledger_.fold(session, report, now);
  }
  // The session is not a router any more.
  void forget(const SessionId& session) { ledger_.forget(session); }

  // What to keep of a planned move that begins now. Requires: `look` was called.
  Promise promise(const PlannedMove& planned) const;

  // A move is over. `ordered` and the gains of `past` are filled in here. `promise`: nullopt when
  // nobody planned it.
  void ended(PastMove past, const std::optional<Promise>& promise, Instant now);

  // Once a tick (two seconds), also where nothing is planned: makes the picture of heat, measures
  // the gains that are due and forgets what is over for long. Requires: set_view was called.
  void look(Instant now, UnixMillis wall);

  // As of the last look; nullptr before it.
  const std::shared_ptr<const heat::Picture>& picture() const { return picture_; }

  // What a planner is told now; also to ask one what it would do. Requires: `look` was called.
  Input input(TickFacts facts) const;

  // The plan of this tick, after its look. The next one is told its trigger.
  Plan step(TickFacts facts, const Planner& planner = plan);

 private:
  // Of a committed move, until its gain is measured.
  struct Pending {
    Instant due{0};
    std::uint64_t source_before = 0;
    std::uint64_t total_before = 0;
  };
  struct Remembered {
    PastMove move;
    std::optional<Pending> gain;
  };

  ring::RingSnapshot view_;
  heat::Ledger ledger_;
  std::shared_ptr<const heat::Picture> picture_;
  std::vector<Remembered> history_;  // oldest first
  Trigger trigger_;
};

}  // namespace cleave::balance
