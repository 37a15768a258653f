#include "admin/render.h"

#include <algorithm>

#include "base/shown.h"

namespace cleave::admin {
namespace {

Json render_move(const ring::Move& move, const ring::Document& document) {
  return {{"id", move.id.value()},
          {"source", name_of(document, move.source)},
          {"destination", name_of(document, move.destination)},
          {"ranges", render_ranges(move.ranges)},
          {"share_ppm", ring::share_ppm(move.ranges)},
          {"reason", move.reason},
          {"started_ms", move.started.value()}};
}

Json render_running(const control::MoveStatus& status, const ring::Document& document) {
  Json json = render_move(status.move, document);
  json["phase"] = ring::to_string(status.move.phase);
  json["step"] = status.step;
  json["waits_for"] = status.waits_for;
  json["keys_copied"] = status.keys_copied;
  json["bytes_copied"] = status.bytes_copied;
  json["rounds"] = status.rounds;
  return json;
}

std::string_view to_string(control::MoveEnd end) {
  switch (end) {
    case control::MoveEnd::kCommitted: return "committed";
    case control::MoveEnd::kAborted: return "aborted";
    case control::MoveEnd::kRefused: return "refused";
  }
  return "aborted";
}

Json render_ended(const control::MoveRecord& record, const ring::Document& document) {
  Json json = render_move(record.move, document);
  json["end"] = to_string(record.end);
  json["why"] = record.why;
  json["keys_copied"] = record.keys_copied;
  json["bytes_copied"] = record.bytes_copied;
  json["took_ms"] = record.took.count();
  json["committed_ms"] = record.committed.count();
  json["fenced_us"] = record.fenced.count();
  json["ended_ms"] = record.ended.value();
  return json;
}

Json render_router(const proxy::RouterStats& stats) {
  return {{"clients", stats.clients},
          {"clients_total", stats.clients_total},
          {"requests", stats.requests},
          {"refused", stats.refused},
          {"errors", stats.errors},
          {"timeouts", stats.timeouts},
          {"held_now", stats.held_now},
          {"held_total", stats.held_total},
          {"accepting", stats.accepting},
          {"clients_shed", stats.clients_shed},
          {"hold_ms_histogram", stats.hold_ms_histogram}};
}

Json render_members(const ring::Node& node) {
  Json members = Json::array();
  for (const ring::Member& member : node.members) {
    members.push_back({{"address", member.address}, {"rack", member.rack}});
  }
  return members;
}

// What a node's server was seen to hold; left out where nobody looked yet.
void add_server(Json& json, const control::Status& status, NodeId node) {
  const auto facts = std::ranges::find(status.nodes, node, &control::NodeFacts::node);
  if (facts == status.nodes.end()) return;
  if (!facts->reachable) return;  // what it had a while ago is not what it has
  json["keys"] = facts->keys;
  json["copies"] = facts->copies;
  json["memory_bytes"] = facts->memory_bytes;
  json["memory_bytes_max"] = facts->memory_bytes_max;
  json["eviction_policy"] = facts->eviction_policy;
  json["commands"] = facts->commands;
  json["marked"] = facts->marked;
  json["run_id"] = facts->incarnation.run_id;
  json["version"] = facts->version;
  json["unattributed_requests"] = facts->unattributed_requests;
  json["unattributed_writes"] = facts->unattributed_writes;
  json["foreign_writes"] = facts->foreign_writes;
  if (facts->strays.known)
    json["strays"] = render_strays(facts->strays, facts->keys, status.view->document());
  add_unrouted(json, *facts);
  json["rdb_version"] = facts->rdb_version;
  json["refuses"] = facts->refuses;
}

// How hot the node is; left out where this router has no picture.
void add_load(Json& json, const control::Status& status, NodeId node) {
  if (!heat_is_known(status)) return;
  const auto load = std::ranges::find(status.heat->nodes, node, &heat::NodeLoad::node);
  if (load == status.heat->nodes.end()) return;
  json["load_ns"] = load->load.mean;
  json["requests_per_s"] = load->requests;
  json["writes_per_s"] = load->writes;
  if (const auto ratio = load_ratio_ppm(status, node)) json["load_ratio_ppm"] = *ratio;
}

const char* role_of(const proxy::NodeHealth* health) {
  if (health == nullptr || !health->up || health->identity.incarnation.run_id.empty()) {
    return "unknown";
  }
  return health->identity.primary ? "primary" : "replica";
}

Json render_node(const ring::Node& node, const Facts& facts) {
  const auto health = std::ranges::find(facts.health, node.id, &proxy::NodeHealth::node);
  const bool known = health != facts.health.end();
  Json json = {{"id", node.id.value()},
               {"name", node.name},
               {"hash_key", node.hash_key},
               {"weight", node.weight},
               {"state", node.state == ring::NodeState::kActive ? "active" : "draining"},
               {"members", render_members(node)},
               {"share_ppm", ring::share_ppm(facts.status.view->owned_by(node.id))},
               {"up", known && health->up},
               {"error", known ? health->error : "not probed yet"},
               {"role", role_of(known ? &*health : nullptr)}};
  if (known && health->up && health->latency > microseconds{0}) {
    json["ping_us"] = health->latency.count();
  }
  add_server(json, facts.status, node.id);
  add_load(json, facts.status, node.id);
  return json;
}

Json render_nodes(const Facts& facts) {
  Json nodes = Json::array();
  for (const ring::Node& node : facts.status.view->document().nodes) {
    nodes.push_back(render_node(node, facts));
  }
  return nodes;
}

Json render_entry(const ring::Entry& entry, const ring::Document& document) {
  Json json = render_range(entry.range);
  json["node"] = name_of(document, entry.node);
  json["cut"] = entry.cut != ring::kNone;
  if (entry.move == ring::kNone) {
    json["move"] = nullptr;
  } else {
    json["move"] = document.moves[entry.move].id.value();
  }
  return json;
}

Json render_cut(const ring::Cut& cut, const ring::Document& document) {
  Json json = render_range(cut.range);
  json["node"] = name_of(document, cut.node);
  json["reason"] = cut.reason;
  json["created_ms"] = cut.created.value();
  json["pinned_until_ms"] = cut.pinned_until.value();
  return json;
}

Json render_troubles(const StateBook& states) {
  Json list = Json::array();
  for (const auto& [key, standing] : states.standing()) {
    Json json = {{"code", to_string(key.trouble)},
                 {"node", key.node},
                 {"text", printable(standing.text)},
                 {"since_ms", standing.since.value()}};
    if (key.move != MoveId{}) json["move"] = key.move.value();
    list.push_back(std::move(json));
  }
  return list;
}

Json render_totals(const control::MoveTotals& totals) {
  return {{"committed", totals.committed},
          {"aborted", totals.aborted},
          {"keys", totals.keys},
          {"bytes", totals.bytes}};
}

Json render_options(const ring::SchemeSpec& scheme) {
  Json json = Json::object();
  for (const auto& [name, value] : scheme.options) json[name] = value;
  return json;
}

}  // namespace

Json render_range(const ring::TokenRange& range) {
  return {{"first", ring::to_hex(range.first)}, {"last", ring::to_hex(range.last)}};
}

Json render_ranges(const ring::RangeSet& ranges) {
  Json list = Json::array();
  for (const ring::TokenRange& range : ranges) list.push_back(render_range(range));
  return list;
}

Json render_leftovers(const control::Status& status) {
  const ring::Document& document = status.view->document();
  Json all = Json::array();
  for (const control::LeftoverStatus& left : status.leftovers) {
    Json json = {{"move", left.entry.move.value()},
                 {"node", name_of(document, left.entry.node)},
                 {"ranges", render_ranges(left.entry.ranges)},
                 {"since_ms", left.entry.since.value()},
                 {"state", ring::to_string(left.entry.state)},
                 {"step", left.step},
                 {"waits_for", left.waits_for},
                 {"keys_deleted", left.deleted},
                 {"keys_unknown_to_owner", left.unknown},
                 {"keys_spared", left.spared},
                 {"stuck", left.stuck},
                 {"stuck_ms", left.stuck_for.count()},
                 {"why", left.entry.why},
                 {"server", left.entry.server}};
    if (left.entry.holder != NodeId{}) json["moved_to"] = name_of(document, left.entry.holder);
    all.push_back(std::move(json));
  }
  return all;
}

Json render_routers(const control::Status& status) {
  Json list = Json::array();
  for (const control::RouterStatus& router : status.routers) {
    Json one = {{"session", router.session.value()},
                {"peer", router.peer},
                {"leader", router.leader},
                {"view", nullptr},
                {"heard_ms", nullptr}};
    if (router.view != Epoch{}) one["view"] = router.view.value();
    if (router.heard) one["heard_ms"] = router.heard->count();
    list.push_back(std::move(one));
  }
  return list;
}

Json render_status(const Facts& facts) {
  const control::Status& status = facts.status;
  Json json = {
      {"session", status.session.value()},    {"leader", status.leader},
      {"term", status.term.value()},          {"coordinator", status.coordinator},
      {"version", facts.process.version},     {"started_ms", facts.process.started.value()},
      {"router", render_router(facts.router)}};
  if (facts.states != nullptr) json["troubles"] = render_troubles(*facts.states);
  if (status.view == nullptr) {
    json["held"] = status.held;
    return json;
  }
  const ring::Document& document = status.view->document();
  json["pool"] = document.pool;
  json["epoch"] = document.epoch.value();
  json["scheme"] = document.scheme.name;
  json["scheme_options"] = render_options(document.scheme);
  json["mode"] = ring::to_string(document.mode);
  json["frozen"] = document.frozen;
  json["flatten"] = document.flatten;
  json["cuts"] = document.cuts.size();
  json["nodes"] = render_nodes(facts);
  json["routers"] = render_routers(status);
  json["moves"] = render_moves(status)["moves"];
  json["leftovers"] = render_leftovers(status);
  json["move_totals"] = render_totals(status.totals);
  if (status.leader) json["fits"] = render_fit(status.fits);
  add_outlook(json, status);
  return json;
}

// After a change of the leader nothing is known for a moment, which is not the same as no load.
bool heat_is_known(const control::Status& status) {
  constexpr seconds kHeard{2};
  return status.heat != nullptr && status.heat->observed >= kHeard;
}

Json render_ring(const ring::RingView& view) {
  const ring::Document& document = view.document();
  Json entries = Json::array();
  for (const ring::Entry& entry : view.entries()) entries.push_back(render_entry(entry, document));
  Json cuts = Json::array();
  for (const ring::Cut& cut : document.cuts) cuts.push_back(render_cut(cut, document));
  return {{"epoch", document.epoch.value()},
          {"scheme", document.scheme.name},
          {"scheme_options", render_options(document.scheme)},
          {"entries", std::move(entries)},
          {"cuts", std::move(cuts)}};
}

Json render_moves(const control::Status& status) {
  Json running = Json::array();
  Json ended = Json::array();
  const ring::Document& document = status.view->document();
  for (const control::MoveStatus& move : status.moves) {
    running.push_back(render_running(move, document));
  }
  for (const control::MoveRecord& record : status.ended) {
    ended.push_back(render_ended(record, document));
  }
  return {{"moves", std::move(running)},
          {"ended", std::move(ended)},
          {"leftovers", render_leftovers(status)}};
}

Json render_decision(const control::DecisionRecord& decision) {
  Json passed_over = Json::array();
  for (const control::PassedOver& each : decision.passed_over) {
    passed_over.push_back({{"node", each.node}, {"why", each.why}});
  }
  Json json = {{"at_ms", decision.at.value()},       {"kind", decision.kind},
               {"subject", decision.subject},        {"reason", decision.reason},
               {"predicted", decision.predicted},    {"real", decision.real},
               {"until_ms", decision.until.value()}, {"alternatives", std::move(passed_over)}};
  if (!decision.move) return json;
  const control::DecidedMove& move = *decision.move;
  if (move.id != MoveId{}) json["move"] = move.id.value();
  json["source"] = move.source;
  json["destination"] = move.destination;
  json["ranges"] = render_ranges(move.ranges);
  json["keys"] = move.keys;
  json["bytes"] = move.bytes;
  if (move.source_before == 0 && move.destination_after == 0) return json;
  json["source_load_ns"] = {{"before", move.source_before}, {"after", move.source_after}};
  json["destination_load_ns"] = {{"before", move.destination_before},
                                 {"after", move.destination_after}};
  return json;
}

Json render_decisions(const control::Status& status) {
  Json list = Json::array();
  for (const control::DecisionRecord& decision : status.decisions) {
    list.push_back(render_decision(decision));
  }
  return {{"decisions", std::move(list)}};
}

Json render_place(std::string_view key, const ring::RingView& view) {
  const Token token = view.token_of(key);
  const ring::Entry& entry = view.entry(view.find(token));
  const ring::Node* node = ring::find_node(view.document(), entry.node);
  Json json = {{"key", shown(key)}, {"token", ring::to_hex(token)}};
  json["node"] = name_of(view.document(), entry.node);
  json["address"] = node == nullptr ? "" : node->members.front().address;
  json.update(render_entry(entry, view.document()));
  return json;
}

std::optional<std::uint64_t> load_ratio_ppm(const control::Status& status, NodeId node) {
  if (!heat_is_known(status) || status.view == nullptr) return std::nullopt;
  std::uint64_t load = 0;
  std::uint64_t total = 0;
  for (const heat::NodeLoad& each : status.heat->nodes) {
    total += each.load.mean;
    if (each.node == node) load = each.load.mean;
  }
  std::uint64_t weight = 0;
  std::uint64_t weights = 0;
  for (const ring::Node& each : status.view->document().nodes) {
    if (each.state == ring::NodeState::kActive) weights += each.weight;
    if (each.id == node) weight = each.weight;
  }
  if (total == 0 || weight == 0 || weights == 0) return std::nullopt;
  // load / (total * weight / weights), in an order that stays within 64 bits.
  const std::uint64_t fair = std::max<std::uint64_t>(total / weights * weight, 1);
  return load / fair * 1'000'000 + load % fair * 1'000'000 / fair;
}

std::string name_of(const ring::Document& document, NodeId node) {
  const ring::Node* found = ring::find_node(document, node);
  return found == nullptr ? "?" : found->name;
}

std::string to_body(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cleave::admin
