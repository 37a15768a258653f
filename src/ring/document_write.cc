// The text form of a document, writing (docs/formats/ring-document.md).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "ring/document.h"
#include "ring/text_format.h"

namespace cleave::ring {
namespace {

// Fields stay in the order in which they are added: part of the canonical form.
using Json = nlohmann::ordered_json;

Json json_of(const TokenRange& range) {
  return Json::array({to_hex(range.first), to_hex(range.last)});
}

Json json_of(const Node& node) {
  Json members = Json::array();
  for (const Member& member : node.members) {
    members.push_back({{"address", member.address}, {"rack", member.rack}});
  }
  return {{"id", node.id.value()},
          {"name", node.name},
          {"weight", node.weight},
          {"state", to_string(node.state)},
          {"members", std::move(members)}};
}

Json json_of(const Cut& cut) {
  return {{"range", json_of(cut.range)},
          {"node", cut.node.value()},
          {"reason", cut.reason},
          {"created", cut.created.value()},
          {"pinned_until", cut.pinned_until.value()}};
}

Json json_of(const Move& move) {
  Json ranges = Json::array();
  for (const TokenRange& range : move.ranges) ranges.push_back(json_of(range));
  return {{"id", move.id.value()},          {"ranges", std::move(ranges)},
          {"source", move.source.value()},  {"destination", move.destination.value()},
          {"phase", to_string(move.phase)}, {"phase_epoch", move.phase_epoch.value()},
          {"reason", move.reason},          {"started", move.started.value()}};
}

Json json_of(const Router& router) {
  return {{"session", router.session.value()},
          {"peer", router.peer},
          {"reader", router.reader},
          {"peer_version", router.peer_version}};
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

std::uint32_t text_format_of(const Document& document) {
  std::uint32_t format = kTextFormat;
  for (const Router& router : document.routers) format = std::min(format, router.reader);
  return std::max(format, kTextFormatOldest);
}

std::string to_text(const Document& document) {
  const Json json = {
      {"format", text_format_of(document)},
      {"min_reader", kTextMinReader},
      {"epoch", document.epoch.value()},
      {"pool", document.pool},
      {"mark", document.mark},
      {"scheme", document.scheme},
      {"nodes", list_of(document.nodes)},
      {"next_node", document.next_node.value()},
      {"cuts", list_of(document.cuts)},
      {"moves", list_of(document.moves)},
      {"leader",
       {{"session", document.leader.session.value()}, {"term", document.leader.term.value()}}},
      {"routers", list_of(document.routers)},
      {"mode", to_string(document.mode)},
      {"frozen", document.frozen},
  };
  // `replace`: a reason may quote a key, and keys are any bytes; the default would throw.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cleave::ring
