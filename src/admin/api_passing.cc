// Orders of admin/api.h as such: what became of them, and passing them on to the leader.
#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <utility>

#include "admin/answers.h"
#include "admin/api.h"
#include "admin/passing.h"

namespace cleave::admin {
namespace {

// Every order has its answer by then. What the document says comes sooner (operator.h).
constexpr milliseconds kAnswerMax{6'000};
constexpr milliseconds kWorkMax{25'000};  // of one that looks at many keys before it is answered
constexpr milliseconds kLookPatience{2'000};
constexpr milliseconds kLookAtLeader{100};      // whether it is another one by now
constexpr milliseconds kOrdersPatience{1'500};  // of each other router
constexpr std::size_t kOrderTextMax = 300;
constexpr std::size_t kOrdersMax = 100;

bool is_work(const net::HttpRequest& request) {
  return std::ranges::any_of(std::vector<const char*>{"/adopt", "/strays", "/recovery"},
                             [&](const char* path) { return request.path.starts_with(path); });
}

milliseconds answer_max(const net::HttpRequest& request) {
  return is_work(request) ? kWorkMax : kAnswerMax;
}

// Who answers it: aborts, freezes and edits of the document work at every router, with no leader
// too; of some the leader had better know, that it does not do again what a person stopped.
enum class Whose : std::uint8_t { kEverybodys, kRatherTheLeaders, kTheLeaders };

Whose whose(const net::HttpRequest& request, const std::vector<std::string>& parts) {
  if (parts.empty()) return Whose::kEverybodys;
  const std::string& what = parts[0];
  const auto if_so = [](bool leaders) { return leaders ? Whose::kTheLeaders : Whose::kEverybodys; };
  if (what == "moves" && parts.back() == "clean") return Whose::kEverybodys;
  if (what == "moves" && parts.back() == "abort") return Whose::kRatherTheLeaders;
  if (what == "resume" || (what == "nodes" && parts.back() == "drain"))
    return Whose::kRatherTheLeaders;
  // It looks first whether keys are left there.
  if (what == "nodes" && request.method == "DELETE") return if_so(!request.query.contains("force"));
  if (what == "presplit") return if_so(request.method == "POST");
  if (what == "status") return if_so(request.query.contains("leader"));
  if (what == "heat" && request.query.contains("leader")) return Whose::kTheLeaders;
  if (what == "heat" || what == "decisions") return if_so(request.query.empty());
  return if_so(what == "moves" || what == "plan" || what == "approve" || what == "flatten" ||
               what == "adopt" || what == "strays");
}

// How long another router is asked. The past lies in a file.
milliseconds patience(const net::HttpRequest& request, Whose owner) {
  if (owner == Whose::kRatherTheLeaders) return kOrdersPatience + control::kOrderPatience;
  if (!looks(request)) return answer_max(request) + kOrdersPatience;
  const bool past = request.path == "/heat" && request.query.contains("from");
  return past || is_work(request) ? kWorkMax : kLookPatience;
}

bool is_success(int status) { return status >= 200 && status < 300; }

std::string text_of(const net::HttpRequest& request) {
  std::string text = request.method + " " + request.target;
  if (!request.body.empty() && request.body != "{}") text += " " + request.body;
  if (text.size() > kOrderTextMax) text = text.substr(0, kOrderTextMax) + "...";
  return text;
}

std::string asker_of(const net::HttpRequest& request) {
  const std::string_view by = net::find_header(request.headers, kAskedBy);
  const bool passed = !net::find_header(request.headers, kPassedBy).empty();
  return passed && !by.empty() ? std::string(by) + " by way of " + request.peer : request.peer;
}

std::string why_in(const net::HttpResponse& response) {
  const Json body = Json::parse(response.body, nullptr, false);
  const auto error = body.is_object() ? body.find("error") : body.end();
  if (error == body.end() || !error->is_object()) return "";
  const auto message = error->find("message");
  return message != error->end() && message->is_string() ? message->get<std::string>() : "";
}

net::HttpResponse unknown(const std::string& id, const std::string& why) {
  const std::string message = "whether this was done is not known yet" +
                              (why.empty() ? "" : " (" + why + ")") +
                              "; `cleave orders` tells what became of order " + id;
  return {.status = 504,
          .body = to_body({{"error", {{"code", "unknown"}, {"message", message}, {"order", id}}}})};
}

Fate fate_of(int status) {
  if (is_success(status)) return Fate::kDone;
  if (status == 504) return Fate::kUnknown;
  return status == 503 || status == 429 ? Fate::kNotDone : Fate::kRefused;
}

Json render_order(const OrderRecord& record, const std::string& router) {
  return {{"id", record.id},
          {"router", router},
          {"at_ms", record.at.value()},
          {"order", record.order},
          {"from", record.from},
          {"fate", to_string(record.fate)},
          {"why", record.why},
          {"settled_ms", record.settled.value()}};
}

// What several routers tell: of one order that two know, what is known for certain.
Json merged(const std::vector<Json>& lists) {
  std::map<std::string, Json> by_id;
  for (const Json& list : lists) {
    for (const Json& order : list) {
      const std::string id = order.value("id", "");
      const std::string fate = order.value("fate", "");
      const auto known = by_id.find(id);
      if (known == by_id.end() || (fate != "unknown" && fate != "waiting")) by_id[id] = order;
    }
  }
  std::vector<Json> orders;
  // Of one router's orders within a millisecond the newer has the greater id.
  for (auto& [id, order] : std::views::reverse(by_id)) orders.push_back(std::move(order));
  std::ranges::stable_sort(orders, std::ranges::greater{},
                           [](const Json& order) { return order.value("at_ms", std::int64_t{0}); });
  if (orders.size() > kOrdersMax) orders.resize(kOrdersMax);
  return orders;
}

}  // namespace

Api::Done Api::remembered(const net::HttpRequest& request, const std::string& id,
                          const Done& done) {
  orders_->begin(
      {.id = id, .at = options_.wall_now(), .order = text_of(request), .from = asker_of(request)});
  const auto answered = std::make_shared<bool>(false);
  if (options_.after) {
    const milliseconds most = answer_max(request);
    options_.after(most, [this, id, done, answered, most] {
      if (std::exchange(*answered, true)) return;
      const std::string why = "no answer within " + std::to_string(most.count()) + " ms";
      orders_->settle(id, Fate::kUnknown, why, options_.wall_now());
      done(unknown(id, why));
    });
  }
  return [this, id, done, answered](net::HttpResponse response) {
    net::HttpResponse told = remember(id, std::move(response));
    if (!std::exchange(*answered, true)) done(std::move(told));
  };
}

// Runs within the operator's own answer, as `when_settled` wants it.
net::HttpResponse Api::remember(const std::string& id, net::HttpResponse response) {
  const std::string why = why_in(response);
  const Fate fate = fate_of(response.status);
  orders_->settle(id, fate, why, options_.wall_now());
  if (fate == Fate::kUnknown) {
    options_.order_taker.when_settled([this, id](const Result<void>& done) {
      const Fate known = done                                   ? Fate::kDone
                         : done.error().code == Code::kConflict ? Fate::kNotDone
                                                                : Fate::kUnknown;
      orders_->settle(id, known, done ? "" : done.error().message, options_.wall_now());
    });
    response = unknown(id, why);
  }
  response.headers.emplace_back(kOrderId, id);
  return response;
}

// ---- the leader's things ------------------------------------------------------------------------

struct Api::Passing {
  net::HttpRequest request;
  Parts parts;
  Done done;
  SessionId leader;     // who is asked
  OrderRecord order;    // its id is empty: none
  bool rather = false;  // it can be done here, too
  bool sent = false;
  bool over = false;
};

bool Api::pass_on(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  const Whose owner = whose(request, parts);
  const control::Status status = options_.order_taker.status();
  if (owner == Whose::kEverybodys || status.leader || status.view == nullptr || !options_.ask)
    return false;
  const ring::Document& document = status.view->document();
  const ring::Router* leader = ring::find_router(document, document.leader.session);
  if (leader == nullptr || leader->session == status.session) return false;
  const Result<net::Address> address = net::parse_address(leader->peer);
  if (!address) return false;
  if (!net::find_header(request.headers, kPassedBy).empty()) {
    done(plain_error(503, "unavailable", "this router does not lead any more; ask again"));
    return true;
  }
  const bool is_look = looks(request);
  const auto passing =
      std::make_shared<Passing>(Passing{.request = request,
                                        .parts = parts,
                                        .done = done,
                                        .leader = leader->session,
                                        .order = {.id = is_look ? "" : orders_->next_id(),
                                                  .at = options_.wall_now(),
                                                  .order = text_of(request),
                                                  .from = asker_of(request)},
                                        .rather = owner == Whose::kRatherTheLeaders});
  net::HttpCall call{.address = *address,
                     .method = is_look ? "GET" : request.method,
                     .target = request.target,
                     .headers = {{kPassedBy, status.session.value()}, {kAskedBy, request.peer}},
                     .body = request.body,
                     .timeout = patience(request, owner),
                     .sent = [passing] { passing->sent = true; }};
  if (!is_look) call.headers.emplace_back(kOrderId, passing->order.id);
  for (const char* name : {"authorization", "content-type"}) {
    const std::string_view value = net::find_header(request.headers, name);
    if (!value.empty()) call.headers.emplace_back(name, value);
  }
  options_.ask(std::move(call), [this, passing](const Result<net::HttpReply>& reply) {
    if (std::exchange(passing->over, true)) return;
    if (!reply && passing->rather) return answer(passing->request, passing->parts, passing->done);
    passed(reply, *passing);
  });
  watch_leader(passing);
  return true;
}

// A router that hangs takes connections and answers nothing: the others know sooner than its
// time is over that it leads no more.
void Api::watch_leader(const std::shared_ptr<Passing>& passing) {
  if (passing->over || !options_.after) return;
  options_.after(kLookAtLeader, [this, passing] {
    if (passing->over) return;
    const control::Status status = options_.order_taker.status();
    if (status.view == nullptr || status.view->document().leader.session == passing->leader)
      return watch_leader(passing);
    passing->over = true;
    const bool may_be_done = passing->sent && !looks(passing->request) && !passing->rather;
    if (may_be_done) return passed(fail(Code::kTimeout, "another router leads now"), *passing);
    if (pass_on(passing->request, passing->parts, passing->done)) return;
    answer(passing->request, passing->parts, passing->done);
  });
}

// The leader remembers the order; here it is only where the leader gave no answer.
void Api::passed(const Result<net::HttpReply>& reply, const Passing& passing) {
  constexpr int kElsewhere = 307;  // of an older version: the leader changes
  const OrderRecord& order = passing.order;
  if (reply && reply->status != kElsewhere) {
    net::HttpResponse response{
        .status = reply->status,
        .content_type = std::string(net::find_header(reply->headers, "content-type")),
        .body = reply->body};
    if (!order.id.empty()) response.headers.emplace_back(kOrderId, order.id);
    return passing.done(std::move(response));
  }
  const std::string why = reply ? "the leader changes; ask again"
                                : "the leader does not answer: " + reply.error().message;
  const bool lost = !order.id.empty() && passing.sent && !reply;
  net::HttpResponse response = lost ? unknown(order.id, why) : plain_error(503, "unavailable", why);
  if (!order.id.empty()) {
    orders_->begin(order);
    orders_->settle(order.id, lost ? Fate::kUnknown : Fate::kNotDone, why, options_.wall_now());
    response.headers.emplace_back(kOrderId, order.id);
  }
  passing.done(std::move(response));
}

// ---- what became of them ------------------------------------------------------------------------

void Api::get_orders(const net::HttpRequest& request, const Done& done) {
  // What the other routers tell, until all have answered.
  struct Gathered {
    std::vector<Json> lists;
    Json missing = Json::array();
    std::size_t open = 1;
  };
  const control::Status status = options_.order_taker.status();
  Json own = Json::array();
  for (const OrderRecord& record : orders_->records())
    own.push_back(render_order(record, status.session.value()));
  const auto gathered = std::make_shared<Gathered>();
  gathered->lists.push_back(std::move(own));
  const auto one_done = [gathered, done] {
    if (--gathered->open > 0) return;
    done(ok({{"orders", merged(gathered->lists)}, {"missing", gathered->missing}}));
  };
  const bool here = request.query.contains("here") || status.view == nullptr || !options_.ask;
  const auto nobody = std::vector<ring::Router>{};
  for (const ring::Router& router : here ? nobody : status.view->document().routers) {
    const Result<net::Address> address = net::parse_address(router.peer);
    if (router.session == status.session || !address) continue;
    net::HttpCall call{.address = *address, .target = "/orders?here", .timeout = kOrdersPatience};
    const std::string_view token = net::find_header(request.headers, "authorization");
    if (!token.empty()) call.headers.emplace_back("authorization", token);
    ++gathered->open;
    options_.ask(std::move(call), [gathered, one_done, session = router.session.value()](
                                      const Result<net::HttpReply>& reply) {
      const Json told = reply ? Json::parse(reply->body, nullptr, false) : Json();
      if (told.is_object() && told.contains("orders") && told["orders"].is_array()) {
        gathered->lists.push_back(told["orders"]);
      } else {
        const std::string why =
            reply ? "HTTP status " + std::to_string(reply->status) : reply.error().message;
        gathered->missing.push_back({{"router", session}, {"why", why}});
      }
      one_done();
    });
  }
  one_done();
}

}  // namespace cleave::admin
