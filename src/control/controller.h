// Controller: the control side of one router process.
//
//   Membership   joins the document, follows it, publishes views; answers Gate (rules 2, 5, 9)
//   Leadership   takes and keeps the term; removes sessions whose lease is gone (rules 2, 3)
//   Driver       carries out moves (migrate/migration.h decides, backend/transfer.h does)
//   Balancer     heat -> plan -> moves, every two seconds (balance/planner.h)
//
// It knows neither proxy nor app: views go out through `publish`, routers are asked through
// peer::Directory. The same code runs in sim/.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/pipe.h"
#include "balance/input/constants.h"
#include "balance/input/daily_windows.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/begin/first_ring.h"
#include "control/begin/recovery.h"
#include "control/orders/operator.h"
#include "coord/register.h"
#include "history/heat_point.h"
#include "net/loop.h"
#include "peer/fence_keeper.h"
#include "peer/key_counter.h"
#include "peer/router_peer.h"
#include "ring/edits/edits.h"

namespace cleave::control {

class Controller final : public backend::Gate,
                         public peer::FenceKeeper,
                         public peer::KeyCounter,
                         public Operator,
                         public Recovery {
 public:
  struct Options {
    net::Loop& loop;
    coord::Register& store;
    peer::Directory& directory;
    SessionId session;           // never used before
    std::string peer_address{};  // "host:port" where other routers ask this one; empty: nowhere
    ring::Creation creation;     // seeds the document where there is none
    RingPlaces places{.coordinator = "the coordinator", .saved = {}};
    backend::Credentials credentials;
    Limits limits;
    balance::Constants constants{};
    std::vector<balance::DailyWindow>
        windows{};  // in which the balancer begins moves; none: always
    std::uint64_t seed = 0;
    bool balance = true;            // false: only moves that are ordered
    bool mark_new_servers = false;  // `up`: empty children are marked without asking
    // Each third of it asks the coordinator twice: 2 requests a second. With a remote coordinator
    // 6 s make it the 1 a second that it is to bear of a router.
    milliseconds lease{3'000};
    // When another router last asked this one something (peer/); empty: the coordinator alone tells
    // who is alive.
    std::function<Instant()> last_asked{};
    Mutations mutations{};

    // A new view; first the one of our own join. To be handed to the data path at once.
    std::function<void(ring::RingSnapshot)> publish;
    // The session was removed (rule 2), or the document cannot be used: the process must stop
    // serving and start again under a new session.
    std::function<void(const Error&)> removed;
    // One line for a person's log.
    std::function<void(const std::string&)> log;
    // Each new decision, for the history. May be empty.
    std::function<void(const Decision&)> decided;
  };

  explicit Controller(Options options);
  ~Controller() override;

  // Reads the document, or creates it where it may (first_ring.h), and joins it. Keeps
  // trying while the coordinator is away.
  void start();
  // A clean stop: no new moves, running ones aborted or finished, session removed, lease ended.
  void stop(std::function<void()> stopped);

  // Stored heat of this hour on other days (control/observe/usual_levels.h): what is normal.
  void set_usual(const std::vector<history::HeatPoint>& points);

  const SessionId& session() const override;
  void confirm(std::function<void(Result<void>)> done) override;
  void abort_held_move(MoveId move, Epoch phase_epoch) override;
  void count_keys(Counted done) override;
  void count_as_leader(Counted done) override;

  Status status() const override;
  void when_settled(Done<void> told) override;
  void move(ring::MoveRequest request, Done<MoveId> done) override;
  void abort(MoveId move, Done<void> done) override;
  void take_back(MoveId move, Done<MoveId> done) override;
  void give_up(MoveId move, GiveUp how, Done<void> done) override;
  void allow_old_readers(Done<void> done) override;
  void abort_all(Then then, Done<std::uint64_t> done) override;
  void cut(CutOrder order, Done<void> done) override;
  void merge(ring::TokenRange range, Done<void> done) override;
  void freeze(bool frozen, Done<void> done) override;
  void set_mode(ring::Mode mode, Done<void> done) override;
  void approve(std::string plan, Done<std::uint64_t> done) override;
  void add_node(ring::Node node, Done<NodeId> done) override;
  void drain_node(NodeId node, Done<void> done) override;
  void undrain_node(NodeId node, Done<void> done) override;
  void set_weight(NodeId node, std::uint32_t weight, Done<void> done) override;
  void remove_node(NodeId node, Force force, Done<void> done) override;
  void presplit(PresplitOrder order, Done<Presplit> done) override;
  void forget(std::string event, Done<void> done) override;
  void flatten(Done<std::uint64_t> done) override;
  void survey(Done<Survey> done) override;
  void adopt(AdoptOrder order, Done<void> done) override;
  void list_strays(Done<StrayList> done) override;
  void move_strays(StrayPage from, Done<StraysHandled> done) override;
  void read_strays(StrayPage from, Done<StrayDumps> done) override;
  void remove_strays(NodeId node, std::vector<StrayDump> dumps, Done<StraysHandled> done) override;
  void accept_strays(Done<std::uint64_t> done) override;

  void situation(Done<RingSituation> done) override;
  void begin_anew(Force force, Done<void> done) override;
  void restore(RestoreOrder order, Done<RestoreReport> done) override;
  void take_over(AdoptOrder order, Done<void> done) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::control
