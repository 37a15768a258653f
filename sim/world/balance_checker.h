// BalanceChecker: the laws of the balancer, held against what the model servers really had to do
// and what the document really says.
//
//   cuts        moves of load and of bytes never add a cut beyond the bound of the constants, as
//               far as was known when they were planned: a person's moves, and what goes home
//               (join, drain, flatten) and may part a cut, add theirs meanwhile
//   settled     no move of load begins in a pool whose servers have long been level, from one that
//               the planner's own mean does not show above the others either
//   promise     no server is far above the others for long, unless the plan says why or moves it
//   strangers   who writes past the routers is noticed, nobody else is accused of it, and no move
//               of the balancer begins at a server where that is known
//   verdicts    what is given as the reason for doing nothing is so. Checked: frozen, upgrade,
//               scheme, no-heat, too-many-down, bad-input, usual, in-flight, veto, rests, cuts,
//               dwell, unsplittable, sample. Of the others only that they are about a server that
//               is there
//
// All but the first are judged only when the faults have ended, and the leader knows the prices.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balance/input/constants.h"
#include "balance/plan/plan.h"
#include "base/clock.h"
#include "control/orders/status.h"
#include "ring/view/view.h"
#include "sim/world/strangers.h"

namespace cleave::sim {

class BalanceChecker {
 public:
  // `constants`: as they were promised. Servers and nodes of the document are in the same order.
  BalanceChecker(std::size_t servers, const balance::Constants& constants,
                 const Strangers& strangers);

  // A command on a key that a router has sent for a client ran at the server, for so long.
  void ran(std::size_t server, std::string_view key, nanoseconds took, Instant now);
  void changed(const ring::RingView& before, const ring::RingView& after, Instant now);
  // The server does not carry the pool's marker.
  void unmarked(std::size_t server) { unmarked_.insert(server); }
  // Servers are away now and then, or say no to what a move asks of them.
  void may_refuse() { may_refuse_ = true; }
  // Nothing goes wrong from now on.
  void calm(Instant now) { calm_ = now; }
  // To be called each second, with what the leader says.
  void look(const control::Status& leader, Instant now);

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  // What ran in one second.
  struct Second {
    std::int64_t number = 0;
    std::vector<nanoseconds> servers;
    std::map<std::string, nanoseconds, std::less<>> keys;
  };
  struct Server {
    Instant hot{0};      // since when far above the others; 0: it is not
    Instant moving{0};   // when last a move of it was in the document
    Instant gave{0};     // when last a move from it was
    Instant accused{0};  // since when it is said to be written to past the routers; 0: it is not
    bool moved = false;
  };
  struct Laid {
    Instant when{0};
    std::size_t cuts = 0;
  };

  void under_way(const ring::RingView& view, const ring::Move& move, Instant now);
  void began(const ring::RingView& view, const ring::Move& move, Instant now);
  void judge_cuts(const ring::RingView& view, const ring::Move& ended);
  void judge_strangers(const control::Status& leader, Instant now);
  bool strange(std::size_t server, Instant now) const;
  void judge_hot(const control::Status& leader, Instant now);
  void judge(const balance::Verdict& verdict, const balance::Plan& plan, const ring::RingView& view,
             Instant now);
  std::string why_untrue(const balance::Verdict& verdict, const balance::Plan& plan,
                         const ring::RingView& view, Instant now) const;
  std::string why_free(const balance::Verdict& verdict, std::size_t server, Instant now) const;
  std::string why_splittable(const balance::Verdict& verdict, const ring::RingView& view,
                             Instant now) const;
  // Of the whole seconds before now: a second, on average.
  nanoseconds load(std::size_t server, std::int64_t over, Instant now) const;
  nanoseconds fair(std::int64_t over, Instant now) const;
  bool level(std::int64_t over, Instant now) const;
  bool seemed_high(std::size_t server, Instant now) const;
  std::size_t cuts_max(const ring::RingView& view) const;
  void violation(const std::string& text);

  balance::Constants constants_;
  const Strangers& strangers_;
  Instant calm_{0};  // 0: not yet
  std::deque<Second> seconds_;
  std::vector<Server> servers_;
  std::set<std::size_t> unmarked_;
  bool may_refuse_ = false;
  std::map<MoveId, Instant> begun_;  // moves of the balancer
  std::vector<Laid> others_laid_;    // by persons' orders, and by what went home
  std::string leader_;
  Instant leads_since_{0};
  Instant level_since_{0};  // 0: it is not
  Instant frozen_{0};       // when it last was
  std::vector<std::string> violations_;
};

}  // namespace cleave::sim
