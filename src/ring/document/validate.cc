// The invariants of a document, one group a function (ring/document/document.h).
#include <algorithm>
#include <set>
#include <string>

#include "base/to_number.h"
#include "ring/document/base_ring.h"
#include "ring/document/document.h"
#include "ring/document/text_format.h"
#include "ring/document/validate.h"
#include "ring/utf8.h"
#include "ring/vnode.h"

namespace cleave::ring {
namespace {

std::unexpected<Error> broken(const std::string& what) { return fail(Code::kInvalid, what); }

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string number(std::uint64_t value) { return std::to_string(value); }

bool exact(std::uint64_t value) { return value <= kNumberMax; }

bool exact(UnixMillis time) {
  return time.value() >= 0 && exact(static_cast<std::uint64_t>(time.value()));
}

Result<void> check_word(std::string_view what, std::string_view text) {
  if (is_word(text)) return {};
  return broken(std::string(what) + " " + in_quotes(text) + ": want 1 to " + number(kWordBytesMax) +
                " bytes of UTF-8 without control characters");
}

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = to_number<std::uint16_t>(text.substr(colon + 1));
  return port && *port != 0;
}

Result<void> check_members(const Node& node, std::set<std::string_view>& addresses) {
  if (node.members.empty()) return broken("node " + in_quotes(node.name) + " has no member");
  for (const Member& member : node.members) {
    if (const auto word = check_word("address", member.address); !word) return word;
    if (!is_address(member.address)) {
      return broken("address " + in_quotes(member.address) + ": want host:port");
    }
    if (!addresses.insert(member.address).second) {
      return broken("address " + in_quotes(member.address) + " is given twice");
    }
    if (member.rack.empty()) continue;
    if (const auto word = check_word("rack", member.rack); !word) return word;
  }
  return {};
}

Result<void> check_node(const Node& node, NodeId next_node) {
  if (const auto word = check_word("node name", node.name); !word) return word;
  if (node.id.value() == 0 || node.id >= next_node) {
    return broken("node " + in_quotes(node.name) + " has id " + number(node.id.value()) +
                  ", not from 1 to below next_node " + number(next_node.value()));
  }
  if (!node.hash_key.empty()) {
    if (const auto word = check_word("hash key", node.hash_key); !word) return word;
  }
  if (node.weight < 1 || node.weight > kWeightMax) {
    return broken("node " + in_quotes(node.name) + " has weight " + number(node.weight) +
                  ", not from 1 to " + number(kWeightMax));
  }
  if (node.strays > kNumberMax)
    return broken("node " + in_quotes(node.name) + " has more than 2^53 - 1 strays");
  if (node.drain_held && node.state != NodeState::kDraining)
    return broken("node " + in_quotes(node.name) + " holds a drain and does not drain");
  return {};
}

Result<void> check_nodes(const Document& document) {
  std::set<std::string_view> names;
  std::set<std::string_view> addresses;
  std::uint64_t weights = 0;
  bool active = false;
  NodeId previous;
  for (const Node& node : document.nodes) {
    if (const auto good = check_node(node, document.next_node); !good) return good;
    if (node.id <= previous) return broken("node " + in_quotes(node.name) + " is not sorted by id");
    previous = node.id;
    if (!names.insert(node.name).second) return broken("two nodes named " + in_quotes(node.name));
    if (const auto good = check_members(node, addresses); !good) return good;
    weights += node.weight;
    active = active || node.state == NodeState::kActive;
  }
  if (!active) return broken("no active node");
  if (weights > kWeightSumMax) {
    return broken("weights sum to " + number(weights) + ", more than " + number(kWeightSumMax));
  }
  return {};
}

Result<void> check_options(const SchemeSpec& scheme) {
  for (const auto& [name, value] : scheme.options) {
    if (const auto word = check_word("option", name); !word) return word;
  }
  return check_option_values(scheme);
}

Result<void> check_cuts(const Document& document) {
  const Cut* previous = nullptr;
  for (const Cut& cut : document.cuts) {
    const std::string what = "cut " + to_string(cut.range);
    if (cut.range.last < cut.range.first) return broken(what + " ends before it begins");
    if (previous != nullptr && cut.range.first <= previous->range.last) {
      return broken(what + " is not after the one before it");
    }
    if (find_node(document, cut.node) == nullptr) {
      return broken(what + " belongs to node " + number(cut.node.value()) + ", which is unknown");
    }
    if (!exact(cut.created) || !exact(cut.pinned_until)) {
      return broken(what + " has a time outside 0 .. 2^53 - 1");
    }
    previous = &cut;
  }
  return {};
}

Result<void> check_ranges(const RangeSet& ranges, const std::string& what) {
  if (ranges.empty()) return broken(what + " has no range");
  for (const TokenRange& range : ranges) {
    if (range.last < range.first) return broken(what + " has a range that ends before it begins");
  }
  if (normalised(ranges) != ranges) {
    return broken(what + " has ranges that are not sorted, disjoint and joined");
  }
  return {};
}

Result<void> check_move(const Document& document, const Move& move) {
  const std::string what = "move " + number(move.id.value());
  if (move.source == move.destination) return broken(what + " ends where it begins");
  for (const NodeId node : {move.source, move.destination}) {
    if (find_node(document, node) == nullptr) {
      return broken(what + " names node " + number(node.value()) + ", which is unknown");
    }
  }
  const std::uint64_t set = move.phase_epoch.value();
  if (move.id.value() == 0 || set < move.id.value() || set > document.epoch.value()) {
    return broken(what + " has phase epoch " + number(set) + ", not from its id to epoch " +
                  number(document.epoch.value()));
  }
  if (!exact(move.started)) return broken(what + " has a time outside 0 .. 2^53 - 1");
  if (move.takes_back != MoveId{} && move.phase != Phase::kFenced) {
    return broken(what + " takes a range back and is not fenced");
  }
  return check_ranges(move.ranges, what);
}

Result<void> check_leftover(const Document& document, const Leftover& leftover) {
  const std::string what = "leftover of move " + number(leftover.move.value());
  if (leftover.move.value() == 0 || leftover.move.value() > document.epoch.value()) {
    return broken(what + " is not from 1 to epoch " + number(document.epoch.value()));
  }
  if (find_node(document, leftover.node) == nullptr) {
    return broken(what + " names node " + number(leftover.node.value()) + ", which is unknown");
  }
  const bool held = leftover.holder != NodeId{};
  if (held && find_node(document, leftover.holder) == nullptr) {
    return broken(what + " has holder " + number(leftover.holder.value()) + ", which is unknown");
  }
  if (leftover.holder == leftover.node) return broken(what + " is its own holder");
  if (!held && leftover.state == LeftoverState::kBegun) {
    return broken(what + " is begun without a holder");
  }
  if (!leftover.server.empty()) {
    if (const auto word = check_word(what + ": server", leftover.server); !word) return word;
  }
  if (!held && (leftover.incarnation != Incarnation{} || leftover.offset != 0)) {
    return broken(what + " has a holder's incarnation or offset without a holder");
  }
  for (const std::string* id :
       {&leftover.incarnation.run_id, &leftover.incarnation.replication_id}) {
    if (!held) continue;
    if (const auto word = check_word(what + ": incarnation", *id); !word) return word;
  }
  if (!exact(leftover.since)) return broken(what + " has a time outside 0 .. 2^53 - 1");
  if (!exact(leftover.offset)) return broken(what + " has an offset above 2^53 - 1");
  return check_ranges(leftover.ranges, what);
}

Result<void> check_leftovers(const Document& document) {
  MoveId previous;
  for (const Leftover& leftover : document.leftovers) {
    if (const auto good = check_leftover(document, leftover); !good) return good;
    if (leftover.move <= previous) {
      return broken("leftover of move " + number(leftover.move.value()) + " is not sorted");
    }
    previous = leftover.move;
  }
  return {};
}

Result<void> check_moves(const Document& document) {
  MoveId previous;
  std::vector<TokenRange> all;
  for (const Move& move : document.moves) {
    if (const auto good = check_move(document, move); !good) return good;
    if (move.id <= previous) {
      return broken("move " + number(move.id.value()) + " is not sorted by id");
    }
    previous = move.id;
    all.insert(all.end(), move.ranges.begin(), move.ranges.end());
  }
  std::ranges::sort(all);
  const auto touching = std::ranges::adjacent_find(
      all, [](const TokenRange& left, const TokenRange& right) { return left.overlaps(right); });
  if (touching != all.end()) return broken("two moves share tokens of " + to_string(*touching));
  return {};
}

Result<void> check_event(const ExpectedEvent& event) {
  if (const auto word = check_word("event", event.name); !word) return word;
  const std::string what = "event " + in_quotes(event.name);
  if (!exact(event.lead_from) || !exact(event.start) || !exact(event.end)) {
    return broken(what + " has a time outside 0 .. 2^53 - 1");
  }
  if (event.end <= event.start) return broken(what + " ends before it starts");
  if (event.start < event.lead_from) return broken(what + " has its lead time after its start");
  if (event.loads.empty()) return broken(what + " expects no load");
  if (event.loads.size() > kEventLoadsMax) {
    return broken(what + " has " + number(event.loads.size()) + " loads, more than " +
                  number(kEventLoadsMax));
  }
  const ExpectedLoad* previous = nullptr;
  for (const ExpectedLoad& each : event.loads) {
    const std::string where = what + ", " + to_string(each.range);
    if (each.range.last < each.range.first) return broken(where + " ends before it begins");
    if (previous != nullptr && each.range.first <= previous->range.last) {
      return broken(where + " is not after the range before it");
    }
    if (each.load == 0 || each.load > kExpectedLoadMax) {
      return broken(where + ": load " + number(each.load) + " is not from 1 to " +
                    number(kExpectedLoadMax) + " ns/s");
    }
    previous = &each;
  }
  return {};
}

Result<void> check_expected(const Document& document) {
  std::size_t loads = 0;
  const ExpectedEvent* previous = nullptr;
  for (const ExpectedEvent& event : document.expected) {
    if (const auto good = check_event(event); !good) return good;
    if (previous != nullptr && event.name <= previous->name) {
      return broken("event " + in_quotes(event.name) + " is not sorted and unique");
    }
    loads += event.loads.size();
    previous = &event;
  }
  if (loads > kExpectedLoadsMax) {
    return broken("all events have " + number(loads) + " loads, more than " +
                  number(kExpectedLoadsMax));
  }
  return {};
}

// What a router that reads only older formats does not know.
std::string_view news_of(std::uint32_t format) {
  switch (format) {
    case kTextFormatExpected: return "expected load";
    case kTextFormatScheme: return "other scheme than vnode";
    default: return "leftovers of moves";
  }
}

Result<void> check_sessions(const Document& document) {
  const SessionId* previous = nullptr;
  const std::uint32_t format = text_format_of(document);
  for (const Router& router : document.routers) {
    const SessionId& session = router.session;
    if (const auto word = check_word("session", session.value()); !word) return word;
    if (!router.peer.empty()) {
      if (const auto word = check_word("peer", router.peer); !word) return word;
    }
    if (router.reader == 0) return broken("router " + in_quotes(session.value()) + ": reader 0");
    // A document that was read from format 1 has routers of that time, and what it says is plain.
    if (format > kTextFormatPlain && router.reader < format) {
      return broken("router " + in_quotes(session.value()) + " is of a version that knows no " +
                    std::string(news_of(format)) + "; upgrade it");
    }
    if (previous != nullptr && session <= *previous) {
      return broken("session " + in_quotes(session.value()) + " is not sorted and unique");
    }
    previous = &session;
  }
  const Leader& leader = document.leader;
  if (!exact(leader.term.value())) return broken("the term is above 2^53 - 1");
  if (leader.session.value().empty()) return {};
  if (leader.term.value() == 0) return broken("a leader without a term");
  if (!has_router(document, leader.session)) {
    return broken("leader " + in_quotes(leader.session.value()) + " is not among the routers");
  }
  return {};
}

}  // namespace

Result<void> validate_fields(const Document& document) {
  if (document.epoch.value() == 0 || !exact(document.epoch.value())) {
    return broken("epoch " + number(document.epoch.value()) + " is outside 1 .. 2^53 - 1");
  }
  if (const auto word = check_word("pool", document.pool); !word) return word;
  if (!document.mark.empty()) {
    if (const auto word = check_word("mark", document.mark); !word) return word;
  }
  if (const auto good = check_nodes(document); !good) return good;
  if (const auto good = check_options(document.scheme); !good) return good;
  if (const auto good = check_cuts(document); !good) return good;
  if (const auto good = check_moves(document); !good) return good;
  if (const auto good = check_leftovers(document); !good) return good;
  if (const auto good = check_sessions(document); !good) return good;
  return check_expected(document);
}

Result<void> check_option_values(const SchemeSpec& scheme) {
  for (const auto& [name, value] : scheme.options) {
    if (value.size() <= kOptionBytesMax && is_utf8(value)) continue;
    return broken("option " + name + ": want at most " + number(kOptionBytesMax) +
                  " bytes of UTF-8");
  }
  return {};
}

Result<void> validate_base(const Document& document, const Placement& placement) {
  if (document.cuts.empty() && document.moves.empty()) return {};
  const auto cuttable = check_cuttable(document.scheme, placement);
  return cuttable ? cuttable : broken(cuttable.error().message);
}

Result<void> validate(const Document& document) {
  if (const auto good = validate_fields(document); !good) return good;
  // What could be wrong with the nodes of plain vnode is checked above.
  if (document.scheme == SchemeSpec{.name = std::string(kVnodeScheme)}) return {};
  const Result<BaseRing> base = make_base(document);
  if (!base) return broken(base.error().message);
  return validate_base(document, *base->placement);
}

}  // namespace cleave::ring
