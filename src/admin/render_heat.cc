// The part of admin/render.h that shows heat and plans.
#include <chrono>
#include <utility>

#include "admin/render.h"
#include "base/shown.h"

namespace cleave::admin {
namespace {

Json render_alternatives(const std::vector<balance::Alternative>& alternatives,
                         const ring::Document& document) {
  Json list = Json::array();
  for (const balance::Alternative& each : alternatives) {
    list.push_back({{"node", name_of(document, each.node)}, {"why", each.why}});
  }
  return list;
}

Json render_planned(const balance::PlannedMove& move, const ring::Document& document) {
  return {{"source", name_of(document, move.source)},
          {"destination", name_of(document, move.destination)},
          {"ranges", render_ranges(move.ranges)},
          {"cause", balance::to_string(move.cause)},
          {"reason", move.reason},
          {"load_ns", move.load},
          {"keys", move.keys},
          {"bytes", move.bytes},
          {"pinned_until_ms", move.pin_until.value()},
          {"alternatives", render_alternatives(move.alternatives, document)}};
}

Json render_verdict(const balance::Verdict& verdict, const ring::Document& document) {
  const balance::Reason& reason = balance::reason_of(verdict.why);
  Json json = {{"why", reason.name},
               {"node", name_of(document, verdict.node)},
               {"text", verdict.text},
               {"remedy", reason.remedy},
               {"key", shown(verdict.key)},
               {"until_ms", verdict.until.value()},
               {"alternatives", render_alternatives(verdict.alternatives, document)}};
  if (verdict.token) json["token"] = ring::to_hex(*verdict.token);
  return json;
}

Json render_heavy(const balance::HeavyToken& heavy, const ring::Document& document) {
  return {{"token", ring::to_hex(heavy.token)},
          {"key", shown(heavy.key)},
          {"node", name_of(document, heavy.node)},
          {"load_ns", heavy.load},
          {"ppm", heavy.ppm}};
}

// Everything of a plan but the state of the pool.
Json render_plan_of(const balance::Plan& plan, const ring::Document& document) {
  Json moves = Json::array();
  Json merges = Json::array();
  Json verdicts = Json::array();
  Json heavy = Json::array();
  for (const balance::PlannedMove& move : plan.moves) {
    moves.push_back(render_planned(move, document));
  }
  for (const ring::TokenRange& range : plan.merges) merges.push_back(render_range(range));
  for (const balance::Verdict& verdict : plan.verdicts) {
    verdicts.push_back(render_verdict(verdict, document));
  }
  for (const balance::HeavyToken& each : plan.heavy) {
    heavy.push_back(render_heavy(each, document));
  }
  return {{"peak_ppm", plan.peak_ppm},        {"predicted_ppm", plan.predicted_ppm},
          {"bound_ppm", plan.bound_ppm},      {"moves", std::move(moves)},
          {"merges", std::move(merges)},      {"verdicts", std::move(verdicts)},
          {"heavy", std::move(heavy)},        {"advice", plan.advice},
          {"advice_nodes", plan.advice_nodes}};
}

Json render_event(const ring::ExpectedEvent& event, UnixMillis now) {
  std::uint64_t load = 0;
  for (const ring::ExpectedLoad& each : event.loads) load += each.load;
  return {{"name", event.name},
          {"state", control::to_string(control::state_of(event, now))},
          {"lead_from_ms", event.lead_from.value()},
          {"start_ms", event.start.value()},
          {"end_ms", event.end.value()},
          {"ranges", event.loads.size()},
          {"load_ns", load}};
}

Json render_list(const std::vector<ring::ExpectedEvent>& events, UnixMillis now) {
  Json list = Json::array();
  for (const ring::ExpectedEvent& event : events) list.push_back(render_event(event, now));
  return list;
}

Json render_load(const heat::Load& load) {
  return {{"tick", load.tick}, {"mean", load.mean}, {"slow", load.slow}, {"peak", load.peak}};
}

Json render_node_loads(const heat::Picture& picture, const ring::Document& document) {
  Json list = Json::array();
  for (const heat::NodeLoad& node : picture.nodes) {
    list.push_back({{"node", name_of(document, node.node)},
                    {"load_ns", render_load(node.load)},
                    {"requests_per_s", node.requests},
                    {"writes_per_s", node.writes}});
  }
  return list;
}

Json render_range_loads(const heat::Picture& picture, const ring::Document& document) {
  Json list = Json::array();
  for (const heat::RangeLoad& range : picture.ranges) {
    if (range.load.mean == 0) continue;
    Json json = render_range(range.range);
    json["node"] = name_of(document, range.node);
    json["load_ns"] = render_load(range.load);
    json["requests_per_s"] = range.requests;
    json["writes_per_s"] = range.writes;
    list.push_back(std::move(json));
  }
  return list;
}

Json render_hot_keys(const heat::Picture& picture, const ring::Document& document) {
  Json list = Json::array();
  for (const heat::KeyLoad& key : picture.keys) {
    list.push_back({{"key", shown(key.key)},
                    {"token", ring::to_hex(key.token)},
                    {"node", name_of(document, key.node)},
                    {"load_ns", key.load},
                    {"error_ns", key.error}});
  }
  return list;
}

Json render_value(const history::HeatValue& value) {
  return {
      {"load_ns", value.load}, {"requests_per_s", value.requests}, {"writes_per_s", value.writes}};
}

// The tokens of a strip (history/heat_point.h): those with these top bits.
ring::TokenRange strip_range(std::uint32_t strip) {
  constexpr std::uint64_t kWidth = ~std::uint64_t{0} / history::kStrips + 1;
  const std::uint64_t first = strip * kWidth;
  return {.first = Token{first}, .last = Token{first + (kWidth - 1)}};
}

}  // namespace

Json render_plan(const control::Status& status) {
  const ring::Document& document = status.view->document();
  const balance::Plan plan = status.plan == nullptr ? balance::Plan{} : *status.plan;
  Json json = {{"id", status.plan_id},
               {"mode", ring::to_string(document.mode)},
               {"frozen", document.frozen}};
  json.update(render_plan_of(plan, document));
  return json;
}

void add_outlook(Json& json, const control::Status& status) {
  const ring::Document& document = status.view->document();
  if (heat_is_known(status)) {
    const Json hot = render_hot_keys(*status.heat, document);
    json["hottest"] = hot.empty() ? Json(nullptr) : hot.front();
  }
  if (status.plan == nullptr) return;
  const Json plan = render_plan_of(*status.plan, document);
  json["planned"] = plan["moves"];
  json["why_not"] = plan["verdicts"];
  json["heavy"] = plan["heavy"];
  json["advice"] = plan["advice"];
}

Json render_events(const ring::Document& document, UnixMillis now) {
  return {{"events", render_list(document.expected, now)}};
}

Json render_presplit(const control::Presplit& presplit, const ring::Document& document,
                     UnixMillis now) {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  for (const balance::PlannedMove& move : presplit.plan.moves) {
    keys += move.keys;
    bytes += move.bytes;
  }
  Json json = {{"events", render_list(presplit.events, now)},
               {"mode", ring::to_string(document.mode)},
               {"frozen", document.frozen},
               {"at_ms", presplit.at.value()},
               {"expected_ns", presplit.expected},
               {"keys", keys},
               {"bytes", bytes}};
  json.update(render_plan_of(presplit.plan, document));
  return json;
}

Json render_heat(const control::Status& status) {
  if (status.heat == nullptr) return {{"observed_ms", 0}};
  const heat::Picture& picture = *status.heat;
  const ring::Document& document = status.view->document();
  return {{"observed_ms", std::chrono::duration_cast<milliseconds>(picture.observed).count()},
          {"epoch", picture.epoch.value()},
          {"nodes", render_node_loads(picture, document)},
          {"ranges", render_range_loads(picture, document)},
          {"keys", render_hot_keys(picture, document)}};
}

Json render_history(const std::vector<history::HeatPoint>& points, const ring::Document& document) {
  Json list = Json::array();
  for (const history::HeatPoint& point : points) {
    Json nodes = Json::array();
    Json strips = Json::array();
    for (const history::HeatValue& node : point.nodes) {
      Json json = {{"node", name_of(document, NodeId{node.id})}};
      json.update(render_value(node));
      nodes.push_back(std::move(json));
    }
    for (const history::HeatValue& strip : point.strips) {
      Json json = render_range(strip_range(strip.id));
      json.update(render_value(strip));
      strips.push_back(std::move(json));
    }
    list.push_back({{"at_ms", point.at.value()},
                    {"covers_ms", point.covers.count()},
                    {"nodes", std::move(nodes)},
                    {"strips", std::move(strips)}});
  }
  return {{"points", std::move(list)}};
}

Json render_stored(const std::vector<history::StoredDecision>& decisions) {
  Json list = Json::array();
  for (const history::StoredDecision& decision : decisions) {
    const Json json = Json::parse(decision.body, nullptr, false);
    if (json.is_object()) list.push_back(json);
  }
  return {{"decisions", std::move(list)}};
}

}  // namespace cleave::admin
