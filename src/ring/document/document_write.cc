// The text form of a document, writing (docs/formats/ring-document.md).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "ring/document/document.h"
#include "ring/document/text_format.h"
#include "ring/vnode.h"

namespace cleave::ring {
namespace {

// Fields stay in the order in which they are added: part of the canonical form.
using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(const TokenRange& range) {
  return OrderedJson::array({to_hex(range.first), to_hex(range.last)});
}

OrderedJson json_of(const Node& node) {
  OrderedJson members = OrderedJson::array();
  for (const Member& member : node.members) {
    members.push_back({{"address", member.address}, {"rack", member.rack}});
  }
  OrderedJson json = {{"id", node.id.value()},
                      {"name", node.name},
                      {"weight", node.weight},
                      {"state", to_string(node.state)},
                      {"members", std::move(members)}};
  if (!node.hash_key.empty()) json["hash_key"] = node.hash_key;
  if (node.strays > 0) json["strays"] = node.strays;
  if (node.drain_held) json["drain_held"] = true;
  return json;
}

OrderedJson json_of(const Cut& cut) {
  return {{"range", json_of(cut.range)},
          {"node", cut.node.value()},
          {"reason", cut.reason},
          {"created", cut.created.value()},
          {"pinned_until", cut.pinned_until.value()}};
}

OrderedJson json_of(const RangeSet& ranges) {
  OrderedJson list = OrderedJson::array();
  for (const TokenRange& range : ranges) list.push_back(json_of(range));
  return list;
}

OrderedJson json_of(const Move& move) {
  OrderedJson json = {{"id", move.id.value()},          {"ranges", json_of(move.ranges)},
                      {"source", move.source.value()},  {"destination", move.destination.value()},
                      {"phase", to_string(move.phase)}, {"phase_epoch", move.phase_epoch.value()},
                      {"reason", move.reason},          {"started", move.started.value()}};
  if (move.takes_back != MoveId{}) json["takes_back"] = move.takes_back.value();
  return json;
}

OrderedJson json_of(const Leftover& leftover) {
  OrderedJson json = {{"move", leftover.move.value()},
                      {"node", leftover.node.value()},
                      {"ranges", json_of(leftover.ranges)},
                      {"since", leftover.since.value()},
                      {"state", to_string(leftover.state)}};
  if (!leftover.server.empty()) json["server"] = leftover.server;
  if (!leftover.why.empty()) json["why"] = leftover.why;
  if (leftover.holder == NodeId{}) return json;
  json["holder"] = leftover.holder.value();
  json["run_id"] = leftover.incarnation.run_id;
  json["replication_id"] = leftover.incarnation.replication_id;
  if (leftover.offset != 0) json["offset"] = leftover.offset;
  return json;
}

OrderedJson json_of(const Router& router) {
  return {{"session", router.session.value()},
          {"peer", router.peer},
          {"reader", router.reader},
          {"peer_version", router.peer_version}};
}

OrderedJson json_of(const ExpectedEvent& event) {
  OrderedJson loads = OrderedJson::array();
  for (const ExpectedLoad& each : event.loads) {
    loads.push_back({{"range", json_of(each.range)}, {"load", each.load}});
  }
  return {{"name", event.name},
          {"lead_from", event.lead_from.value()},
          {"start", event.start.value()},
          {"end", event.end.value()},
          {"loads", std::move(loads)}};
}

template <class T>
OrderedJson list_of(const std::vector<T>& values) {
  OrderedJson list = OrderedJson::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

std::uint32_t text_format_of(const Document& document) {
  // Nobody is there who could be shut out: a pool without routers may go back to an older version.
  const bool all_know = !document.routers.empty() && old_reader(document) == nullptr;
  if (!document.leftovers.empty() || (all_know && !document.old_readers))
    return kTextFormatLeftovers;
  const bool plain = document.scheme == SchemeSpec{.name = std::string(kVnodeScheme)} &&
                     std::ranges::all_of(document.nodes, &std::string::empty, &Node::hash_key);
  if (!plain) return kTextFormatScheme;
  return document.expected.empty() ? kTextFormatPlain : kTextFormatExpected;
}

std::string to_text(const Document& document) {
  const std::uint32_t format = text_format_of(document);
  OrderedJson json = {
      {"format", format},
      // An older reader would lose what is expected when it writes, and place keys as vnode does.
      {"min_reader", format},
      {"epoch", document.epoch.value()},
      {"pool", document.pool},
      {"mark", document.mark},
      {"scheme", document.scheme.name},
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
  if (!document.scheme.options.empty()) json["scheme_options"] = document.scheme.options;
  if (!document.expected.empty()) json["expected"] = list_of(document.expected);
  if (!document.leftovers.empty()) json["leftovers"] = list_of(document.leftovers);
  if (document.old_readers) json["old_readers"] = true;
  if (document.flatten) json["flatten"] = true;
  // `replace`: a reason may quote a key, and keys are any bytes; the default would throw.
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace cleave::ring
