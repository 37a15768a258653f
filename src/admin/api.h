// Api: the HTTP interface of one router process, as functions of a request.
//
//   GET    /ready                       200 once clients are served, else 503; needs no token
//   GET    /status /ring /moves /decisions /plan
//   GET    /ring?document               the ring document, to be saved
//   GET    /status?leader               the status of the router that leads
//   GET    /heat                        how hot everything is now
//   GET    /heat?from=MS&to=MS          and was, between two times of day
//   GET    /heat?from=MS&to=MS&leader   as the router that leads remembers it
//   GET    /decisions?since=MS          stored ones, of former lives of the router too
//   GET    /locate?key=K                whose the key is
//   GET    /metrics                     Prometheus' text format
//   GET    /adopt                       what is on the servers, and whether the ring finds it
//   POST   /adopt     {nodes?, force?, new_ring?}  write the ownership marker there
//   GET    /recovery                    why there is no ring, and what the servers carry
//   POST   /recovery         {document, rename?, force?, dry_run?}   give the saved ring back
//   POST   /moves            {ranges | key, to, reason?}
//   POST   /moves/ID/abort   /moves/ID/undo   /moves/ID/take-back   /downgrade
//   POST   /moves/ID/clean   {last_copies?}   /moves/ID/forget
//   POST   /moves/abort                 all that are under way
//   POST   /moves/undo       {ranges}   the newest that moved all of these
//   POST   /cuts             {at | key, reason?, pinned_until_ms?}
//   POST   /merges           {range}
//   POST   /freeze           {abort?}
//   POST   /resume /flatten
//   POST   /approve          {plan}     also as /plan/approve
//   POST   /mode             {mode}
//   POST   /nodes            {name, members, weight?}
//   POST   /nodes/NAME/drain /undrain   DELETE /nodes/NAME, /nodes/NAME?force
//   POST   /nodes/NAME/weight {weight}
//   GET    /strays                      keys that lie where the ring does not look for them
//   POST   /strays/move /strays/read    {node, cursor?}
//   POST   /strays/remove               {node, keys}
//   POST   /strays/accept               those that are there are known
//   GET    /presplit                    what is expected
//   POST   /presplit         {events, dry_run?, force?}
//   DELETE /presplit/NAME
//
//   GET    /orders                      the last orders, and what became of each
//   GET    /orders?here                 those that this router took
//
// What is the leader's to do (moves, undo, approve, flatten, adopt, presplit) or to know (moves,
// plan, heat of now, decisions of now) any other router asks the leader for, with the caller's own
// headers, and passes on its answer.
//
// Answers are JSON (docs/formats/admin-api.md); an error is {"error": {"code", "message"}}. Orders
// are answered when the document says so, not when the work is done; and soon: what cannot be
// written now is never written later, or the answer says that nobody knows yet.
//
// Threads: the control loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/door.h"
#include "admin/order_log.h"
#include "admin/past_moves.h"
#include "admin/router_facts.h"
#include "control/begin/recovery.h"
#include "control/orders/operator.h"
#include "history/store.h"
#include "net/http.h"

namespace cleave::admin {

class Api {
 public:
  using Done = std::function<void(net::HttpResponse)>;
  template <class T>
  using Reply = std::function<void(Result<T>)>;

  struct Options {
    control::Operator& order_taker;
    RouterFacts& router;
    Door::Options door = {};
    std::function<UnixMillis()> wall_now;
    // What is stored of the past; nullptr: only the present is known.
    history::Store* history = nullptr;
    // Where a ring may have been lost; nullptr: nowhere.
    control::Recovery* recovery = nullptr;
    // Of the process, which may have had sessions before; nullptr: a new one.
    std::shared_ptr<OrderLog> orders = nullptr;
    // Asks another router, and runs something later. Empty: there is nobody else, and an order
    // without an answer waits.
    std::function<void(net::HttpCall, std::function<void(Result<net::HttpReply>)>)> ask = {};
    std::function<void(milliseconds, std::function<void()>)> after = {};
  };

  explicit Api(Options options);

  // What a request is answered that may not come in at all, wherever it wants to go.
  std::optional<net::HttpResponse> refusal(const net::HttpRequest& request) const {
    return door_.refusal(request);
  }

  // How long a request's body may be, by its header: a saved ring is long, and only who may come in
  // brings one.
  std::size_t body_bytes_max(const net::HttpRequest& head) const;
  // How long its answer may take: a saved ring is compared with every key where copies may lie.
  static milliseconds answer_timeout(const net::HttpRequest& request);

  // `done` runs once, perhaps before the call returns.
  void handle(const net::HttpRequest& request, const Done& done);

 private:
  using Parts = std::vector<std::string>;
  // Each answers, or says that the path is not its own.
  bool get(const net::HttpRequest& request, const Parts& parts, const Done& done);
  bool post(const net::HttpRequest& request, const Parts& parts, const Done& done);

  // Here, whoever leads.
  void answer(const net::HttpRequest& request, const Parts& parts, const Done& done);
  // What only the leader knows or does is asked of it; false: we lead, or nobody does.
  bool pass_on(const net::HttpRequest& request, const Parts& parts, const Done& done);
  struct Passing;  // one request that another router was asked
  // Whoever leads meanwhile is asked instead, or is told that nobody knows what was done.
  void watch_leader(const std::shared_ptr<Passing>& passing);
  void passed(const Result<net::HttpReply>& reply, const Passing& passing);

  // `done`, for an order that is remembered: with its id, and at the latest after a while.
  Done remembered(const net::HttpRequest& request, const std::string& id, const Done& done);
  net::HttpResponse remember(const std::string& id, net::HttpResponse response);
  void get_orders(const net::HttpRequest& request, const Done& done);

  void get_ready(const Done& done);
  void get_status(const Done& done);
  void get_metrics(const Done& done);
  std::string decisions_text(const control::Status& status) const;
  std::string moves_text(const control::Status& status) const;
  void get_past_heat(const net::HttpRequest& request, const Done& done);
  void get_past_decisions(const net::HttpRequest& request, const Done& done);
  void get_locate(const net::HttpRequest& request, const Done& done);
  void get_survey(const Done& done);
  void get_strays(const Done& done);
  // `render` is given the present view.
  void get_view(const Done& done, const std::function<std::string(const control::Status&)>& render);

  // Of `post`, by what they are about; false: no such order.
  bool post_moves(const net::HttpRequest& request, const Parts& parts, const Done& done);
  bool post_nodes(const net::HttpRequest& request, const Parts& parts, const Done& done);
  void post_move(const net::HttpRequest& request, const Done& done);
  bool post_move_order(const net::HttpRequest& request, const std::string& id,
                       const std::string& verb, const Done& done);
  void post_clean(const net::HttpRequest& request, MoveId move, const Done& done);
  void post_cut(const net::HttpRequest& request, const Done& done);
  void post_undo(const net::HttpRequest& request, const Done& done);
  void undo(const Meant& meant, const Done& done);
  void move_back(const CommittedMove& move, const Done& done);
  void post_freeze(const net::HttpRequest& request, const Done& done);
  void post_approve(const net::HttpRequest& request, const Done& done);
  void post_weight(const std::string& name, const net::HttpRequest& request, const Done& done);
  void post_merge(const net::HttpRequest& request, const Done& done);
  void post_mode(const net::HttpRequest& request, const Done& done);
  void post_node(const net::HttpRequest& request, const Done& done);
  bool post_strays(const net::HttpRequest& request, const std::string& verb, const Done& done);
  void post_strays_page(const net::HttpRequest& request, const std::string& verb, const Done& done);
  void post_strays_remove(const net::HttpRequest& request, const Done& done);
  void post_drain(const std::string& name, const Done& done);
  void delete_node(const net::HttpRequest& request, const std::string& name, const Done& done);
  // The node of that name; nothing, and `done` is answered, where there is none.
  std::optional<NodeId> known_node(const std::string& name, const Done& done);
  void add_node(ring::Node node, const Done& done);
  // Of each member's server its run id, or why it is not known.
  using RunIds = std::vector<Result<std::string>>;
  void identify(const ring::Node& node, const std::function<void(const RunIds&)>& done);
  Result<void> check_newcomer(const ring::Node& node, const RunIds& servers,
                              control::Force force) const;
  void post_presplit(const net::HttpRequest& request, const Done& done);
  void delete_event(const std::string& name, const Done& done);
  void post_adopt(const net::HttpRequest& request, const Done& done);
  void get_recovery(const Done& done);
  void post_recovery(const net::HttpRequest& request, const Done& done);
  void adopt_anew(control::AdoptOrder order, const Done& done);

  Options options_;
  Door door_;
  std::shared_ptr<OrderLog> orders_;
};

}  // namespace cleave::admin
