// The orders of admin/api.h about expected load.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "admin/answers.h"
#include "admin/api.h"
#include "admin/body.h"
#include "base/ascii.h"
#include "base/shown.h"

namespace cleave::admin {
namespace {

constexpr std::int64_t kLeadMs = 3'600'000;  // where no lead time is given

// What a person called a token.
using Names = std::map<Token, std::string>;

// Reads what is expected, on the ring of this view.
struct Reading {
  const ring::RingView& view;
  Names names = {};
};

void add_token(Reading& reading, const std::string& key, control::Demand& demand) {
  const Token token = reading.view.token_of(key);
  reading.names.emplace(token, key);
  demand.ranges.push_back({.first = token, .last = token});
}

// Where the load is.
void read_selectors(Body& body, Reading& reading, control::Demand& demand) {
  for (const char* wrong : {"prefix", "glob", "pattern"}) {
    if (!body.has(wrong)) continue;
    body.fail("field '" + std::string(wrong) +
              "': keys lie on the ring by their hash, so those of a prefix or pattern are spread "
              "over all of it; name keys, hash tags or token ranges");
  }
  for (const std::string& key : body.texts("keys")) add_token(reading, from_shown(key), demand);
  for (const std::string& text : body.texts("tags")) {
    const std::string tag = from_shown(text);
    if (tag.empty() || tag.contains('}')) body.fail("field 'tags': '" + tag + "' is no hash tag");
    add_token(reading, "{" + tag + "}", demand);
  }
  for (const ring::TokenRange& range : body.ranges("ranges")) demand.ranges.push_back(range);
  if (demand.ranges.empty()) body.fail("want 'keys', 'tags' or 'ranges'");
}

control::Demand read_demand(Body& body, Reading& reading) {
  control::Demand demand;
  read_selectors(body, reading, demand);
  demand.requests = body.number("rate", 1, control::kRequestsMax).value_or(0);
  demand.bytes = body.number("bytes", 0, control::kValueBytesMax).value_or(0);
  demand.command = lowered(body.text("command", Body::Need::kOptional));
  demand.load = body.number("load_ns", 1, ring::kExpectedLoadMax).value_or(0);
  if (body.has("rate") == body.has("load_ns")) {
    body.fail("want either 'rate' (requests a second) or 'load_ns'");
  }
  return demand;
}

control::Announcement read_event(Body& body, Reading& reading) {
  control::Announcement event;
  event.name = body.text("name", Body::Need::kRequired);
  if (!is_plain_name(event.name)) {
    body.fail("field 'name': want 1 to 64 letters, digits, '-', '_' or '.', got '" + event.name +
              "'");
  }
  const std::optional<UnixMillis> lead_from = body.time("lead_from_ms");
  const std::optional<UnixMillis> start = body.time("start_ms");
  const std::optional<UnixMillis> end = body.time("end_ms");
  if (!start || !end) body.fail("want 'start_ms' and 'end_ms'");
  event.start = start.value_or(UnixMillis{});
  event.end = end.value_or(UnixMillis{});
  event.lead_from =
      lead_from.value_or(UnixMillis{std::max<std::int64_t>(event.start.value() - kLeadMs, 0)});
  for (Body& part : body.objects("expect")) {
    event.demands.push_back(read_demand(part, reading));
    body.absorb(part);
  }
  if (event.demands.empty()) body.fail("field 'expect': want a list of what is expected");
  return event;
}

// No request told the router the names of keys that are only expected.
void name_tokens(balance::Plan& plan, const Names& names) {
  for (balance::HeavyToken& each : plan.heavy) {
    const auto found = names.find(each.token);
    if (each.key.empty() && found != names.end()) each.key = found->second;
  }
  for (balance::Verdict& each : plan.verdicts) {
    const auto found = each.token ? names.find(*each.token) : names.end();
    if (each.key.empty() && found != names.end()) each.key = found->second;
  }
}

}  // namespace

void Api::post_presplit(const net::HttpRequest& request, const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) return done(error_response(no_view(status)));
  Body body(request.body);
  Reading reading{.view = *status.view};
  control::PresplitOrder order;
  for (Body& part : body.objects("events")) {
    order.events.push_back(read_event(part, reading));
    body.absorb(part);
  }
  order.dry_run = body.flag("dry_run");
  order.force = body.flag("force");
  if (const Result<void> read = body.finish(); !read) {
    done(error_response(read.error()));
    return;
  }
  const bool dry_run = order.dry_run;
  options_.order_taker.ranges().presplit(
      std::move(order),
      [this, done, dry_run, names = std::move(reading.names)](Result<control::Presplit> presplit) {
        const control::Status now = options_.order_taker.status();
        if (!presplit || now.view == nullptr) {
          done(error_response(presplit ? no_view(now) : presplit.error()));
          return;
        }
        name_tokens(presplit->plan, names);
        Json json = {{"dry_run", dry_run}};
        json.update(render_presplit(*presplit, now.view->document(), options_.wall_now()));
        done(ok(json));
      });
}

void Api::delete_event(const std::string& name, const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) return done(error_response(no_view(status)));
  if (ring::find_event(status.view->document(), name) == nullptr) {
    return done(error_response({Code::kNotFound, "no event '" + name + "' is expected"}));
  }
  options_.order_taker.ranges().forget(name, when_done(done));
}

}  // namespace cleave::admin
