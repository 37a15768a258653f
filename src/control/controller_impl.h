// The parts of a Controller and how they hear of each other. Private to control/controller*.cc.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/begin/first_ring.h"
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

class Controller::Impl final : public Operator,
                               public MoveOrders,
                               public RangeOrders,
                               public NodeOrders,
                               public PoolOrders,
                               public StrayOrders,
                               public Recovery,
                               public peer::FenceKeeper,
                               public peer::KeyCounter {
 public:
  explicit Impl(Options options);

  void start();
  void stop(std::function<void()> stopped);

  // ---- orders (controller_orders.cc, controller_strays.cc) ----
  Status status() const override;
  void when_settled(Done<void> told) override;
  MoveOrders& moves() override { return *this; }
  RangeOrders& ranges() override { return *this; }
  NodeOrders& nodes() override { return *this; }
  PoolOrders& pool() override { return *this; }
  StrayOrders& strays() override { return *this; }

  void move(ring::MoveRequest request, Done<MoveId> done) override;
  void abort(MoveId id, Done<void> done) override;
  void take_back(MoveId move, Done<MoveId> done) override;
  void give_up(MoveId move, GiveUp how, Done<void> done) override;
  void abort_all(Then then, Done<std::uint64_t> done) override;
  void approve(std::string plan, Done<std::uint64_t> done) override;

  void cut(CutOrder wanted, Done<void> done) override;
  void merge(ring::TokenRange range, Done<void> done) override;
  void presplit(PresplitOrder wanted, Done<Presplit> done) override;
  void forget(std::string event, Done<void> done) override;
  void flatten(Done<std::uint64_t> done) override;

  void add_node(ring::Node node, Done<NodeId> done) override;
  void drain_node(NodeId node, Done<void> done) override;
  void undrain_node(NodeId node, Done<void> done) override;
  void set_weight(NodeId node, std::uint32_t weight, Done<void> done) override;
  void remove_node(NodeId node, Force force, Done<void> done) override;

  void freeze(bool frozen, Done<void> done) override;
  void set_mode(ring::Mode mode, Done<void> done) override;
  void allow_old_readers(Done<void> done) override;

  void survey(Done<Survey> done) override;
  void adopt(AdoptOrder order, Done<void> done) override;
  void list_strays(Done<StrayList> done) override;
  void move_strays(StrayPage from, Done<StraysHandled> done) override;
  void read_strays(StrayPage from, Done<StrayDumps> done) override;
  void remove_strays(NodeId node, std::vector<StrayDump> dumps, Done<StraysHandled> done) override;
  void accept_strays(Done<std::uint64_t> done) override;

  // ---- a ring that was lost (controller_recovery.cc) ----
  void situation(Done<RingSituation> done) override;
  void begin_anew(Force force, Done<void> done) override;
  void restore(RestoreOrder order, Done<RestoreReport> done) override;
  void take_over(AdoptOrder order, Done<void> done) override;

  // ---- what the data path asks ----
  void abort_held_move(MoveId move, Epoch phase_epoch) override;
  void count_keys(Counted done) override;
  void count_as_leader(Counted done) override;

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
  std::unique_ptr<StrayWatch> stray_watch;          // while we lead
  std::unique_ptr<Surveyor> surveyor;               // while we lead
  std::unique_ptr<StrayMover> mover;                // while we lead
  std::unique_ptr<Balancer> balancer;               // while we lead
  std::deque<MoveRecord> ended;                     // newest first
  MoveTotals totals;                                // of all moves that ended here
  std::deque<DecisionRecord> decisions;             // newest first
  std::vector<history::HeatPoint> usual;            // of this hour on other days
  // While an order is being answered with kTimeout: whom to tell what became of it.
  Done<void>* unsettled = nullptr;
  std::optional<ring::SchemeFit> fitting;  // that a survey of this term has found
  Instant next_survey{0};
  bool stopping = false;
  std::shared_ptr<void> alive = std::make_shared<int>();

 private:
  // Every edit of a person's order: by whoever leads. `settled` (may be empty): what became of one
  // that was answered with kTimeout.
  void order(DocumentWriter::Edit edit, std::string kind, std::string subject, Done<void> done,
             DocumentWriter::Settled settled = {});
  void tell_order(const ring::MoveRequest& request, const std::vector<std::string>& warnings,
                  const Result<MoveId>& begun);
  // What will be told of these when they end; and that it is not so after all.
  void note_aborts(const std::vector<MoveId>& moves);
  void forget_aborts(const std::vector<MoveId>& moves);
  void presplit_until(Instant until, const PresplitOrder& wanted, Done<Presplit> done);
  void announce(const PresplitOrder& wanted, Result<Presplit> rehearsed, Done<Presplit> done);
  void begin_ring(const ring::Document& made, const Done<void>& done);
  void ask_count();
  void ask_leader(Counted done);
  Error not_leading() const;
  std::string node_name(NodeId node) const;
  void decide(DecisionRecord decision);
  DecidedMove decided_move(const ring::Move& move, std::uint64_t keys, std::uint64_t bytes) const;

  FirstRing& first_ring();
  bool all_heard() const;
  void add_routers(Status& status) const;
  void see(const SharedDocument& document);
  void begin_term(const SharedDocument& document);
  void end_term();
  void watch_strays();
  void look_for_fit();
  void mark(const std::vector<NodeId>& nodes, const Survey& found, Done<void> done);
  void take_down(std::vector<ring::AcceptedStrays> known, Done<void> done);
  void forget_node(NodeId node, Done<void> done);
  void poll_nodes();
  void move_ended(const MoveRecord& record);
  void wind_down(std::function<void()> stopped, Instant deadline);
  void leave(std::function<void()> stopped);
};

}  // namespace cleave::control
