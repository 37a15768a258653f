// Answers about what lies on the servers: the survey before adoption, and strays.
#include <algorithm>

#include "admin/render.h"
#include "base/hex.h"
#include "base/shown.h"

namespace cleave::admin {
namespace {

Json render_stray(const control::Stray& stray, const ring::Document& document) {
  return {{"key", shown(stray.key)},
          {"key_hex", to_hex(stray.key)},
          {"owner", name_of(document, stray.owner)}};
}

Json render_examples(const control::StrayCount& count, const ring::Document& document) {
  Json list = Json::array();
  for (const control::Stray& each : count.examples) list.push_back(render_stray(each, document));
  return list;
}

Json render_kept(const std::vector<control::StrayKept>& kept) {
  Json list = Json::array();
  for (const control::StrayKept& each : kept)
    list.push_back({{"key", shown(each.key)}, {"key_hex", to_hex(each.key)}, {"why", each.why}});
  return list;
}

}  // namespace

Json render_fit(const std::optional<ring::SchemeFit>& fit) {
  if (!fit) return nullptr;
  Json options = Json::object();
  for (const auto& [name, value] : fit->scheme.options) options[name] = value;
  return {{"scheme", fit->scheme.name},
          {"scheme_options", std::move(options)},
          {"hashed", fit->hashed},
          {"keys", fit->keys},
          {"elsewhere", fit->elsewhere}};
}

void add_unrouted(Json& json, const control::NodeFacts& facts) {
  Json databases = Json::array();
  for (const control::OtherDatabase& each : facts.databases)
    databases.push_back({{"database", each.number}, {"keys", each.keys}});
  Json scripts = Json::array();
  for (const control::ScriptCalls& each : facts.scripts)
    scripts.push_back({{"command", each.command}, {"calls", each.calls}});
  json["other_databases"] = std::move(databases);
  json["scripts"] = std::move(scripts);
}

Json render_handled(const control::StraysHandled& handled) {
  return {
      {"handled", handled.handled}, {"kept", render_kept(handled.kept)}, {"next", handled.next}};
}

Json render_dumps(const control::StrayDumps& dumps) {
  Json list = Json::array();
  for (const control::StrayDump& each : dumps.dumps) {
    list.push_back({{"key_hex", to_hex(each.key)},
                    {"dump_hex", to_hex(each.payload)},
                    {"hash", ring::to_hex(Token{each.hash})},
                    {"expires_at_ms", each.expires_at_ms}});
  }
  return {{"dumps", std::move(list)}, {"kept", render_kept(dumps.kept)}, {"next", dumps.next}};
}

Json render_strays(const control::StrayFacts& strays, std::uint64_t keys,
                   const ring::Document& document) {
  return {{"strays", strays.count.estimate(keys)},
          {"keys_looked", strays.count.keys},
          {"seen", strays.count.strays},
          {"whole", strays.count.whole},
          {"share_ppm", strays.count.share_ppm()},
          {"error_ppm", strays.count.error_ppm()},
          {"since_ms", strays.since.value()},
          {"since_exact", strays.since_exact},
          {"accepted", strays.accepted},
          {"grew_ms", strays.grew.value()},
          {"examples", render_examples(strays.count, document)}};
}

Json render_stray_list(const control::StrayList& list, const control::Status& status) {
  const ring::Document& document = status.view->document();
  Json nodes = Json::array();
  for (const control::StrayList::Node& each : list.nodes) {
    const auto facts = std::ranges::find(status.nodes, each.node, &control::NodeFacts::node);
    const bool known = facts != status.nodes.end();
    nodes.push_back({{"node", name_of(document, each.node)},
                     {"error", each.error},
                     {"strays", each.count.strays},
                     {"keys_looked", each.count.keys},
                     {"whole", each.count.whole},
                     {"since_ms", known ? facts->strays.since.value() : 0},
                     {"keys", render_examples(each.count, document)}});
  }
  return {{"nodes", std::move(nodes)}};
}

Json render_survey(const control::Survey& survey, const ring::Document& document) {
  Json list = Json::array();
  for (const control::SurveyedNode& node : survey.nodes) {
    const control::NodeFacts& facts = node.facts;
    Json one = {{"name", name_of(document, facts.node)},
                {"reachable", facts.reachable},
                {"error", facts.error},
                {"marked", facts.marked},
                {"foreign_mark", facts.foreign_mark},
                {"pool", facts.note.pool},
                {"server", facts.note.server},
                {"epoch", facts.note.epoch.value()},
                {"keys", facts.keys},
                {"memory_bytes", facts.memory_bytes},
                {"run_id", facts.incarnation.run_id},
                {"version", facts.version},
                {"look_error", node.look_error},
                {"strays", render_strays(facts.strays, facts.keys, document)}};
    add_unrouted(one, facts);
    list.push_back(std::move(one));
  }
  return {{"nodes", std::move(list)}, {"fits", render_fit(survey.fits)}};
}

}  // namespace cleave::admin
