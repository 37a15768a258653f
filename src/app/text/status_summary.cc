#include "app/text/status_summary.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cleave::app {
namespace {

// Empty, or 0, where the field is absent or of another type.
std::string text_at(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_at(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

Json list_at(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_array() ? *found : Json::array();
}

Result<ring::Node> read_node(const Json& json) {
  ring::Node node;
  node.id = NodeId{static_cast<std::uint32_t>(number_at(json, "id"))};
  node.name = text_at(json, "name");
  node.hash_key = text_at(json, "hash_key");
  node.weight = static_cast<std::uint32_t>(number_at(json, "weight"));
  if (text_at(json, "state") == "draining") node.state = ring::NodeState::kDraining;
  for (const Json& member : list_at(json, "members")) {
    node.members.push_back({text_at(member, "address"), text_at(member, "rack")});
  }
  if (node.id == NodeId{} || node.name.empty() || node.weight == 0 || node.members.empty())
    return not_understood("node " + json.dump());
  return node;
}

}  // namespace

Result<convert::RingSummary> summary_of(const Json& status) {
  convert::RingSummary ring;
  ring.pool = text_at(status, "pool");
  if (ring.pool.empty()) return fail(Code::kUnavailable, "the router has no ring yet");
  ring.scheme.name = text_at(status, "scheme");
  const auto options = status.find("scheme_options");
  if (options != status.end()) {
    for (const auto& [name, value] : options->items()) {
      if (!value.is_string()) return not_understood("option " + name);
      ring.scheme.options.emplace(name, value.get<std::string>());
    }
  }
  for (const Json& each : list_at(status, "nodes")) {
    auto node = read_node(each);
    if (!node) return std::unexpected(node.error());
    ring.nodes.push_back(std::move(*node));
  }
  if (std::ranges::none_of(ring.nodes, [](const ring::Node& node) {
        return node.state == ring::NodeState::kActive;
      })) {
    return not_understood("no active node");
  }
  ring.cuts = number_at(status, "cuts");
  ring.moves = list_at(status, "moves").size();
  return ring;
}

std::unexpected<Error> not_understood(const std::string& what) {
  return fail(Code::kInvalid, "the router's answer is not understood: " + what);
}

}  // namespace cleave::app
