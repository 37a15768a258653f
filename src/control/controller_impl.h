// The parts of a Controller and how they hear of each other. Private to control/controller*.cc.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/begin/first_survey.h"
#include "control/begin/ring_restore.h"
#include "control/controller.h"
#include "control/document/document_writer.h"
#include "control/document/leadership.h"
#include "control/document/membership.h"
#include "control/moves/move_board.h"
#include "control/observe/node_links.h"
#include "control/plan/balancer.h"
#include "control/strays/stray_mover.h"
#include "control/strays/stray_watch.h"
#include "control/strays/surveyor.h"

namespace cleave::control {

class Controller::Impl {
 public:
  explicit Impl(Options options);

  void start();
  void stop(std::function<void()> stopped);
  Status status() const;

  // ---- orders (controller_orders.cc) ----
  // Every edit of a person's order: by whoever leads. `settled` (may be empty): what became of one
  // that was answered with kTimeout.
  void order(DocumentWriter::Edit edit, std::string kind, std::string subject,
             Operator::Done<void> done, DocumentWriter::Settled settled = {});
  void move(ring::MoveRequest request, Operator::Done<MoveId> done);
  void tell_order(const ring::MoveRequest& request, const std::vector<std::string>& warnings,
                  const Result<MoveId>& begun);
  void abort(MoveId id, Operator::Done<void> done);
  void abort_all(Operator::Then then, Operator::Done<std::uint64_t> done);
  // What will be told of these when they end; and that it is not so after all.
  void note_aborts(const std::vector<MoveId>& moves);
  void forget_aborts(const std::vector<MoveId>& moves);
  void cut(CutOrder wanted, Operator::Done<void> done);
  void presplit(PresplitOrder wanted, Instant until, Operator::Done<Presplit> done);
  void announce(const PresplitOrder& wanted, Result<Presplit> rehearsed,
                Operator::Done<Presplit> done);
  void forget(const std::string& event, Operator::Done<void> done);
  void add_node(ring::Node node, Operator::Done<NodeId> done);
  void flatten(Operator::Done<std::uint64_t> done);
  void approve(const std::string& plan, Operator::Done<std::uint64_t> done);
  void survey(Operator::Done<Survey> done);
  void adopt(AdoptOrder order, Operator::Done<void> done);
  void list_strays(Operator::Done<StrayList> done);
  void accept_strays(Operator::Done<std::uint64_t> done);
  void remove_node(NodeId node, Force force, Operator::Done<void> done);
  void count_keys(peer::KeyCounter::Counted done);
  void ask_count();
  void ask_leader(peer::KeyCounter::Counted done);
  void count_as_leader(peer::KeyCounter::Counted done);
  Error not_leading() const;
  std::string node_name(NodeId node) const;

  // ---- a ring that was lost (controller_recovery.cc) ----
  void situation(const Operator::Done<RingSituation>& done);
  void begin_anew(Force force, const Operator::Done<void>& done);
  void begin_ring(const ring::Document& made, const Operator::Done<void>& done);
  void take_over(const AdoptOrder& order, const Operator::Done<void>& done);
  void restore(RestoreOrder order, const Operator::Done<RestoreReport>& done);

  void decide(Decision decision);
  DecidedMove decided_move(const ring::Move& move, std::uint64_t keys, std::uint64_t bytes) const;
  void set_usual(const std::vector<history::HeatPoint>& points);

  Options options;
  DocumentWriter writer;
  Membership membership;
  Leadership leadership;
  std::unique_ptr<FirstRing> first;  // until we have joined
  std::unique_ptr<RingRestore> restoring;
  std::unique_ptr<FirstSurvey> surveying;           // before a ring is begun
  std::vector<peer::KeyCounter::Counted> counters;  // wait for the next count
  Instant count_asked{0};                           // 0: none is under way
  std::shared_ptr<CopyCounts> copies;               // while we lead
  std::unique_ptr<NodeLinks> links;                 // while we lead
  std::unique_ptr<MoveBoard> board;                 // while we lead
  std::unique_ptr<StrayWatch> strays;               // while we lead
  std::unique_ptr<Surveyor> surveyor;               // while we lead
  std::unique_ptr<StrayMover> mover;                // while we lead
  std::unique_ptr<Balancer> balancer;               // while we lead
  std::deque<MoveRecord> ended;                     // newest first
  MoveTotals totals;                                // of all moves that ended here
  std::deque<Decision> decisions;                   // newest first
  std::vector<history::HeatPoint> usual;            // of this hour on other days
  // While an order is being answered with kTimeout: whom to tell what became of it.
  Operator::Done<void>* unsettled = nullptr;
  std::optional<ring::SchemeFit> fitting;  // that a survey of this term has found
  Instant next_survey{0};
  bool stopping = false;
  std::shared_ptr<void> alive = std::make_shared<int>();

 private:
  FirstRing& first_ring();
  bool all_heard() const;
  void add_routers(Status& status) const;
  void see(const SharedDocument& document);
  void begin_term(const SharedDocument& document);
  void end_term();
  void watch_strays();
  void look_for_fit();
  void mark(const std::vector<NodeId>& nodes, const Survey& found, Operator::Done<void> done);
  void take_down(std::vector<ring::AcceptedStrays> known, Operator::Done<void> done);
  void forget_node(NodeId node, Operator::Done<void> done);
  void poll_nodes();
  void move_ended(const MoveRecord& record);
  void wind_down(std::function<void()> stopped, Instant deadline);
  void leave(std::function<void()> stopped);
};

}  // namespace cleave::control
