#include "admin/api.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "admin/answers.h"
#include "admin/metrics.h"
#include "admin/passing.h"
#include "admin/past_decisions.h"
#include "admin/render.h"
#include "base/shown.h"
#include "base/to_number.h"

namespace cleave::admin {
namespace {

constexpr UnixMillis kEver{0};
constexpr std::size_t kDecisionsMax = 1'000;  // of one answer

std::vector<std::string> cut_path(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 1;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A time in the query; nullopt: it is there, but no number.
std::optional<std::int64_t> time_in(const net::HttpRequest& request, const char* name,
                                    std::int64_t fallback) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return fallback;
  return to_number<std::int64_t>(found->second);
}

Error no_history() {
  return {Code::kNotFound, "this router keeps no history; without times you are told of now"};
}

}  // namespace

Api::Api(Options options)
    : options_(std::move(options)),
      door_(options_.door),
      orders_(options_.orders != nullptr
                  ? options_.orders
                  : std::make_shared<OrderLog>(options_.order_taker.status().session.value().substr(
                        0, OrderLog::kNameLength))) {
  orders_->session_over(options_.wall_now());
}

void Api::handle(const net::HttpRequest& request, const Done& done) {
  if (std::optional<net::HttpResponse> refused = refusal(request)) return done(*refused);
  const Parts parts = cut_path(request.path);
  if (looks(request) && parts == Parts{"ready"}) return get_ready(done);
  if (pass_on(request, parts, done)) return;
  answer(request, parts, done);
}

void Api::answer(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  const auto nothing = [&] {
    return plain_error(
        404, "not-found",
        "nothing is at " + request.method + " " + request.path + "; see docs/formats/admin-api.md");
  };
  if (looks(request)) {
    if (!get(request, parts, done)) done(nothing());
    return;
  }
  if (request.method != "POST" && request.method != "DELETE") return done(nothing());
  // Page by page, as many as there are keys: no orders to be remembered.
  if (!parts.empty() && parts[0] == "strays") {
    if (!post(request, parts, done)) done(nothing());
    return;
  }
  const std::string id = id_of(request).value_or(orders_->next_id());
  const Done answered = remembered(request, id, done);
  if (post(request, parts, answered)) return;
  answered(nothing());
  orders_->forget(id);
}

bool Api::get(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  if (parts.size() != 1) return false;
  const std::string& what = parts[0];
  const auto of_view = [&](Json (*render)(const ring::RingView&)) {
    get_view(done, [render](const control::Status& s) { return to_body(render(*s.view)); });
  };
  const auto of_status = [&](Json (*render)(const control::Status&)) {
    get_view(done, [render](const control::Status& s) { return to_body(render(s)); });
  };
  if (what == "status") {
    get_status(done);
  } else if (what == "ring" && request.query.contains("document")) {
    get_view(done, [](const control::Status& s) { return ring::to_text(s.view->document()); });
  } else if (what == "ring") {
    of_view(&render_ring);
  } else if (what == "moves") {
    get_view(done, [this](const control::Status& s) { return moves_text(s); });
  } else if (what == "decisions" && !request.query.empty()) {
    get_past_decisions(request, done);
  } else if (what == "decisions") {
    get_view(done, [this](const control::Status& s) { return decisions_text(s); });
  } else if (what == "metrics") {
    get_metrics(done);
  } else if (what == "plan") {
    of_status(&render_plan);
  } else if (what == "heat" && request.query.empty()) {
    of_status(&render_heat);
  } else if (what == "heat") {
    get_past_heat(request, done);
  } else if (what == "locate") {
    get_locate(request, done);
  } else if (what == "presplit") {
    get_view(done, [this](const control::Status& s) {
      return to_body(render_events(s.view->document(), options_.wall_now()));
    });
  } else if (what == "adopt") {
    get_survey(done);
  } else if (what == "strays") {
    get_strays(done);
  } else if (what == "recovery") {
    get_recovery(done);
  } else if (what == "orders") {
    get_orders(request, done);
  } else {
    return false;
  }
  return true;
}

bool Api::post(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  if (parts.empty()) return false;
  control::Operator& order_taker = options_.order_taker;
  if (request.method == "DELETE" && parts[0] == "presplit" && parts.size() == 2) {
    delete_event(parts[1], done);
    return true;
  }
  if (parts[0] == "nodes") return post_nodes(request, parts, done);
  if (request.method == "DELETE") return false;
  if (parts[0] == "moves") return post_moves(request, parts, done);
  if (parts == Parts{"cuts"}) {
    post_cut(request, done);
  } else if (parts == Parts{"merges"}) {
    post_merge(request, done);
  } else if (parts == Parts{"freeze"}) {
    post_freeze(request, done);
  } else if (parts == Parts{"resume"}) {
    order_taker.pool().freeze(false, when_done(done));
  } else if (parts == Parts{"downgrade"}) {
    order_taker.pool().allow_old_readers(when_done(done));
  } else if (parts == Parts{"mode"}) {
    post_mode(request, done);
  } else if (parts == Parts{"approve"} || parts == Parts{"plan", "approve"}) {
    post_approve(request, done);
  } else if (parts == Parts{"flatten"}) {
    order_taker.ranges().flatten(when_counted(done, "ranges"));
  } else if (parts == Parts{"presplit"}) {
    post_presplit(request, done);
  } else if (parts == Parts{"recovery"}) {
    post_recovery(request, done);
  } else if (parts == Parts{"adopt"}) {
    post_adopt(request, done);
  } else if (parts.size() == 2 && parts[0] == "strays") {
    return post_strays(request, parts[1], done);
  } else {
    return false;
  }
  return true;
}

void Api::get_ready(const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) return done(error_response(no_view(status)));
  if (!options_.router.serving()) {
    return done(error_response(no_server(status, options_.router.health())));
  }
  done(ok({{"ready", true}}));
}

void Api::get_status(const Done& done) {
  options_.router.stats([this, done](const proxy::RouterStats& stats) {
    const control::Status status = options_.order_taker.status();
    const std::vector<proxy::NodeHealth> health = options_.router.health();
    done(ok(render_status({.status = status,
                           .health = health,
                           .router = stats,
                           .states = &options_.router.states(),
                           .process = options_.router.usage()})));
  });
}

void Api::get_metrics(const Done& done) {
  options_.router.stats([this, done](const proxy::RouterStats& stats) {
    const control::Status status = options_.order_taker.status();
    const std::vector<proxy::NodeHealth> health = options_.router.health();
    done({.status = 200,
          .content_type = "text/plain; version=0.0.4",
          .body = render_metrics({.status = status,
                                  .health = health,
                                  .router = stats,
                                  .states = &options_.router.states(),
                                  .process = options_.router.usage()})});
  });
}

// The present ones, and those of the leaders before.
std::string Api::decisions_text(const control::Status& status) const {
  Json json = render_decisions(status);
  const PastDecisions* const past = options_.router.past_decisions();
  if (past != nullptr) json["decisions"] = past->with(json["decisions"]);
  return to_body(json);
}

std::string Api::moves_text(const control::Status& status) const {
  Json json = render_moves(status);
  const PastDecisions* const past = options_.router.past_decisions();
  if (past != nullptr) add_past_moves(json, *past);
  return to_body(json);
}

void Api::get_past_heat(const net::HttpRequest& request, const Done& done) {
  const std::optional<std::int64_t> from = time_in(request, "from", kEver.value());
  const std::optional<std::int64_t> to = time_in(request, "to", options_.wall_now().value());
  if (options_.history == nullptr) return done(error_response(no_history()));
  if (!from || !to || *to < *from) {
    return done(error_response(
        {Code::kInvalid, "/heat: 'from' and 'to' are milliseconds since 1970, from <= to"}));
  }
  options_.history->heat(UnixMillis{*from}, UnixMillis{*to},
                         [this, done](const Result<std::vector<history::HeatPoint>>& points) {
                           if (!points) return done(error_response(points.error()));
                           get_view(done, [&](const control::Status& status) {
                             return to_body(render_history(*points, status.view->document()));
                           });
                         });
}

void Api::get_past_decisions(const net::HttpRequest& request, const Done& done) {
  const std::optional<std::int64_t> since = time_in(request, "since", kEver.value());
  if (options_.history == nullptr) return done(error_response(no_history()));
  if (!since) {
    return done(error_response({Code::kInvalid, "/decisions: 'since' is milliseconds since 1970"}));
  }
  options_.history->decisions(
      UnixMillis{*since}, kDecisionsMax,
      [done](const Result<std::vector<history::StoredDecision>>& decisions) {
        done(decisions ? ok(render_stored(*decisions)) : error_response(decisions.error()));
      });
}

void Api::get_locate(const net::HttpRequest& request, const Done& done) {
  const auto key = request.query.find("key");
  if (key == request.query.end()) {
    done(error_response({Code::kInvalid, "/locate: want ?key=KEY"}));
    return;
  }
  get_view(done, [&](const control::Status& status) {
    return to_body(render_place(from_shown(key->second), *status.view));
  });
}

void Api::get_survey(const Done& done) {
  options_.order_taker.strays().survey([this, done](const Result<control::Survey>& survey) {
    const control::Status status = options_.order_taker.status();
    if (!survey || status.view == nullptr) {
      done(error_response(survey ? no_view(status) : survey.error()));
      return;
    }
    done(ok(render_survey(*survey, status.view->document())));
  });
}

void Api::get_strays(const Done& done) {
  options_.order_taker.strays().list_strays([this, done](const Result<control::StrayList>& list) {
    const control::Status status = options_.order_taker.status();
    if (!list || status.view == nullptr) {
      done(error_response(list ? no_view(status) : list.error()));
      return;
    }
    done(ok(render_stray_list(*list, status)));
  });
}

void Api::get_view(const Done& done,
                   const std::function<std::string(const control::Status&)>& render) {
  const control::Status status = options_.order_taker.status();
  done(status.view == nullptr ? error_response(no_view(status))
                              : net::HttpResponse{.status = 200, .body = render(status)});
}

}  // namespace cleave::admin
