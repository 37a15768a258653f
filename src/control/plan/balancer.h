// Balancer: heat in, plans out, moves begun. What asks, tells and begins around
// balance::PlanningLoop, which decides.
//
//   each second   take_heat of every router of the document -> the loop
//   each 10 s     the servers' own counters -> CostBook -> prices, told with each take_heat
//                                           -> AttributionBook -> nodes that no move may touch
//                   a page of keys of each -> KeySampler -> where its bytes lie; four a second of
//                   those that may have to give bytes away, until enough is known
//   each tick     (2 s) facts of the nodes -> the loop's plan -> by mode:
//                 auto     begin its moves and merges
//                 approve  keep them until a person says yes
//                 observe  tell
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/input/input.h"
#include "balance/plan/plan.h"
#include "balance/planning_loop.h"
#include "base/mutation.h"
#include "control/document/document_writer.h"
#include "control/moves/move_board.h"
#include "control/observe/attribution_book.h"
#include "control/observe/cost_book.h"
#include "control/observe/key_sampler.h"
#include "control/observe/node_links.h"
#include "control/observe/script_book.h"
#include "control/orders/presplit.h"
#include "control/orders/status.h"
#include "control/plan/plan_options.h"
#include "net/loop.h"
#include "peer/router_peer.h"

namespace cleave::control {

class Balancer {
 public:
  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    peer::Directory& directory;
    NodeLinks& links;
    MoveBoard& board;
    PlanOptions plan;
    std::uint64_t seed = 0;
    Mutations mutations = {};
    std::function<bool()> new_strays;  // that nobody accepted: scripts may make their names up
    std::function<void(DecisionRecord)> decided;
  };

  explicit Balancer(Options options);

  // To be told of each new view of our own session.
  void see(const ring::RingSnapshot& view);
  void move_ended(const MoveRecord& record);
  // We ourselves have written to the node's server.
  void wrote(NodeId node) { attribution_.moved(node); }
  void set_usual(std::vector<balance::UsualLevel> usual) { usual_ = std::move(usual); }
  // Wants what the plan of this id proposed; answers how many moves. Errors: kConflict when there
  // is nothing to approve, when the plan or the ring has changed since, or where nothing may begin.
  Result<std::uint64_t> approve(const std::string& plan);

  // What would be done were these announced; nothing is changed. Errors: those of ring::expect;
  // kUnavailable before heat is known.
  Result<Presplit> rehearse(const std::vector<Announcement>& events);

  // Fills in what is known of writes past the routers.
  void attribute(NodeFacts& facts) const;

  // Why an ordered move of the node's keys may lose writes; "" = nothing is known of such.
  std::string bypass_warning(NodeId node) const;
  // Why keys may stay behind when these ranges move by order; "" = nothing is known of such.
  std::string scripts_warning(const ring::RangeSet& ranges) const;

  // When a router last told its heat, and by which view it counted.
  struct Heard {
    Epoch view;
    Instant at{0};
  };
  // nullptr: it has not answered yet.
  const Heard* heard(const SessionId& session) const;

  // nullptr before the first tick.
  const std::shared_ptr<const heat::Picture>& picture() const { return loop_.picture(); }
  const std::shared_ptr<const balance::Plan>& plan() const { return plan_; }
  // Names its moves and merges; empty: it has none.
  const std::string& plan_id() const { return plan_id_; }

 private:
  // A planned move that is wanted, until it is over.
  struct Underway {
    balance::Promise promise;
    std::optional<MoveId> id;  // once the document has it
  };

  void gather();
  void ask_routers();
  void read_servers();
  void hurry_samples();
  void judge_interval();
  void price_commands();
  void tick();
  void make_plan();
  void hold_proposal(balance::Plan& plan);
  void leave_out_unordered(balance::Plan& plan) const;
  void leave_out_scripts(balance::Plan& plan) const;
  void forget_ended(UnixMillis now);
  void add_outlook(balance::Plan& plan, UnixMillis now) const;
  balance::TickFacts tick_facts(UnixMillis now);
  std::vector<balance::NodeFacts> node_facts();
  void act(const balance::Plan& plan);
  // False: one of its nodes has another one to do, so it is not wanted now.
  bool begin(const balance::PlannedMove& planned);
  // The document has it, or it was refused.
  void begun(const balance::PlannedMove& planned, const Result<MoveId>& id);
  void warn_of_scripts(const ring::RangeSet& ranges) const;
  std::string made_up_keys(const ring::RangeSet& ranges) const;
  ScriptsRan scripts_ran() const;
  void merge(const ring::TokenRange& range);
  void publish(const balance::Plan& plan);
  DecidedMove decided_move(const balance::PlannedMove& planned) const;
  std::vector<PassedOver> named(const std::vector<balance::Alternative>& alternatives) const;

  Options options_;
  ring::RingSnapshot view_;
  balance::PlanningLoop loop_;
  std::map<SessionId, Heard> heard_;
  CostBook costs_;
  AttributionBook attribution_;
  KeySampler samples_;
  ScriptBook scripts_;
  std::vector<NodeId> hurried_;  // of which more keys would tell more
  std::vector<balance::UsualLevel> usual_;
  std::shared_ptr<const balance::Plan> plan_;
  Epoch planned_;  // of the view that the plan was made for
  std::string plan_id_;
  // What a person was shown, and may still approve.
  std::vector<balance::PlannedMove> proposed_moves_;
  std::vector<ring::TokenRange> proposed_merges_;
  Epoch proposed_for_;
  Instant proposed_at_{0};
  std::vector<Underway> underway_;
  std::map<std::string, std::string> published_;  // verdicts that stand, by what they are about
  bool forgetting_ = false;                       // what has ended is being taken out
  std::uint64_t ticks_ = 0;
  std::uint32_t looks_left_ = 0;  // at the servers' memory, before the next interval
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
