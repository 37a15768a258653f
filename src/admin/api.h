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
//   POST   /moves/ID/abort   /moves/ID/undo   /moves/ID/take-back   /moves/ID/clean   /downgrade
//   POST   /cuts             {at | key, reason?, pinned_until_ms?}
//   POST   /merges           {range}
//   POST   /freeze /resume   /flatten   /plan/approve
//   POST   /mode             {mode}
//   POST   /nodes            {name, members, weight?}
//   POST   /nodes/NAME/drain            DELETE /nodes/NAME, /nodes/NAME?force
//   GET    /strays                      keys that lie where the ring does not look for them
//   POST   /strays/move /strays/read    {node, cursor?}
//   POST   /strays/remove               {node, keys}
//   GET    /presplit                    what is expected
//   POST   /presplit         {events, dry_run?, force?}
//   DELETE /presplit/NAME
//
// What is the leader's to do (moves, undo, approve, flatten, adopt, presplit) or to know (moves,
// plan, heat of now, decisions of now) is answered by any other router with 307 and the leader's
// address.
//
// Answers are JSON (docs/formats/admin-api.md); an error is {"error": {"code", "message"}}. Orders
// are answered when the document says so, not when the work is done.
//
// Threads: the control loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "admin/router_facts.h"
#include "control/operator.h"
#include "control/recovery.h"
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
    std::string token;  // empty: none needed
    std::function<UnixMillis()> wall_now;
    // What is stored of the past; nullptr: only the present is known.
    history::Store* history = nullptr;
    // Where a ring may have been lost; nullptr: nowhere.
    control::Recovery* recovery = nullptr;
  };

  explicit Api(Options options) : options_(std::move(options)) {}

  // Whether the request carries the token, where one is needed; and what it is answered if not.
  bool allows(const net::HttpRequest& request) const;
  static net::HttpResponse not_allowed();

  // `done` runs once, perhaps before the call returns.
  void handle(const net::HttpRequest& request, const Done& done);

 private:
  using Parts = std::vector<std::string>;
  // Each answers, or says that the path is not its own.
  bool get(const net::HttpRequest& request, const Parts& parts, const Done& done);
  bool post(const net::HttpRequest& request, const Parts& parts, const Done& done);

  // What only the leader knows or does is answered with its address (307), where that is known.
  bool redirect(const net::HttpRequest& request, const Done& done) const;

  void get_ready(const Done& done);
  void get_status(const Done& done);
  void get_metrics(const Done& done);
  void get_past_heat(const net::HttpRequest& request, const Done& done);
  void get_past_decisions(const net::HttpRequest& request, const Done& done);
  void get_locate(const net::HttpRequest& request, const Done& done);
  void get_survey(const Done& done);
  void get_strays(const Done& done);
  // `render` is given the present view.
  void get_view(const Done& done, const std::function<std::string(const control::Status&)>& render);

  void post_move(const net::HttpRequest& request, const Done& done);
  bool post_move_order(const std::string& id, const std::string& verb, const Done& done);
  void post_cut(const net::HttpRequest& request, const Done& done);
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
  void post_presplit(const net::HttpRequest& request, const Done& done);
  void delete_event(const std::string& name, const Done& done);
  void post_adopt(const net::HttpRequest& request, const Done& done);
  void get_recovery(const Done& done);
  void post_recovery(const net::HttpRequest& request, const Done& done);
  void adopt_anew(const std::vector<NodeId>& nodes, const Done& done);

  Options options_;
};

}  // namespace cleave::admin
