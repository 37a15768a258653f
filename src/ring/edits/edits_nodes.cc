// Edits of the set of nodes and their weights (ring/edits/edits.h).
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/server_text.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"
#include "ring/edits/undrain.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

Node& node_of(Document& document, NodeId id) {
  const auto found = std::ranges::find(document.nodes, id, &Node::id);
  CHECK(found != document.nodes.end());
  return *found;
}

// Requires: the node is known.
bool is_last_active(const Document& document, NodeId id) {
  return std::ranges::none_of(document.nodes, [&](const Node& node) {
    return node.id != id && node.state == NodeState::kActive;
  });
}

bool takes_part(const Document& document, NodeId id) {
  return std::ranges::any_of(document.moves, [&](const Move& move) {
    return move.source == id || move.destination == id;
  });
}

bool is_named_by_leftover(const Document& document, NodeId id) {
  return std::ranges::any_of(document.leftovers, [&](const Leftover& leftover) {
    return leftover.node == id || leftover.holder == id;
  });
}

// Here, and not among what every document must be: one that was written before this rule is read.
Result<void> check_doubles(const Document& document, const Node& newcomer) {
  std::map<std::string, std::string> known;
  for (const Node& node : document.nodes)
    for (const Member& member : node.members)
      known.emplace(comparable_address(member.address), "of node '" + node.name + "' already");
  for (const Member& member : newcomer.members) {
    const auto [found, is_new] = known.emplace(comparable_address(member.address), "given twice");
    if (!is_new)
      return conflict("add node: address '" + member.address + "' is " + found->second +
                      "; a server is one member");
  }
  return {};
}

bool owns_some(const Document& document, NodeId id) {
  const std::vector<Arc> arcs = owners(document);
  return std::ranges::find(arcs, id, &Arc::node) != arcs.end();
}

}  // namespace

Result<Document> add_node(const Document& document, const Node& node, UnixMillis now) {
  if (const auto good = check_cuttable(document, "add node"); !good) {
    return std::unexpected(good.error());
  }
  // Of a double name `validate` tells.
  if (find_node(document, node.name) == nullptr) {
    if (const auto good = check_doubles(document, node); !good)
      return std::unexpected(good.error());
  }
  Document next = advanced(document);
  next.nodes.push_back(node);
  next.nodes.back().id = document.next_node;
  next.nodes.back().state = NodeState::kActive;
  next.next_node = NodeId{document.next_node.value() + 1};
  if (const Result<void> valid = validate(next); !valid) return fail("add node", valid.error());
  keep_owners(document, next, "kept when node '" + node.name + "' joined", now);
  return next;
}

Result<Document> drain_node(const Document& document, NodeId node, UnixMillis now) {
  const Node* found = find_node(document, node);
  const std::string what = "drain: " + describe(document, node);
  if (found == nullptr) return conflict(what + " is unknown");
  if (found->state == NodeState::kDraining && !found->drain_held) {
    return conflict(what + " is draining already");
  }
  if (found->drain_held) {  // it goes on
    Document next = advanced(document);
    node_of(next, node).drain_held = false;
    return next;
  }
  if (is_last_active(document, node)) return conflict(what + " is the last active node");
  if (const auto good = check_cuttable(document, what); !good) {
    return std::unexpected(good.error());
  }
  Document next = advanced(document);
  node_of(next, node).state = NodeState::kDraining;
  if (const Result<void> valid = validate(next); !valid) return fail(what, valid.error());
  keep_owners(document, next, "kept while node '" + found->name + "' drains", now);
  return next;
}

Result<Document> undrain_node(const Document& document, NodeId node, UnixMillis now) {
  const Node* found = find_node(document, node);
  const std::string what = "undrain: " + describe(document, node);
  if (found == nullptr) return conflict(what + " is unknown");
  if (found->state != NodeState::kDraining) return conflict(what + " does not drain");
  if (const auto good = check_cuttable(document, what); !good) {
    return std::unexpected(good.error());
  }
  Document next = advanced(document);
  node_of(next, node).state = NodeState::kActive;
  node_of(next, node).drain_held = false;
  if (const Result<void> valid = validate(next); !valid) return fail(what, valid.error());
  keep_owners(document, next, "kept when the drain of node '" + found->name + "' was taken back",
              now);
  return next;
}

Result<Document> remove_node(const Document& document, NodeId node, UnixMillis now) {
  const Node* found = find_node(document, node);
  const std::string what = "remove: " + describe(document, node);
  if (found == nullptr) return conflict(what + " is unknown");
  if (takes_part(document, node)) return conflict(what + " takes part in a move");
  if (is_named_by_leftover(document, node)) {
    return conflict(what +
                    " is named by what a move left behind; it is cleaned first, see "
                    "'cleave leftovers'");
  }
  if (is_last_active(document, node)) return conflict(what + " is the last active node");
  if (owns_some(document, node)) return conflict(what + " still owns tokens; drain it first");
  Document next = advanced(document);
  // No cut names it: whoever has a cut owns its tokens.
  std::erase_if(next.nodes, [&](const Node& each) { return each.id == node; });
  if (found->state == NodeState::kDraining) return next;
  // An active node may own nothing and still, by its weight, have its part in where others are.
  if (const Result<void> valid = validate(next); !valid) return fail(what, valid.error());
  keep_owners(document, next, "kept when " + describe(document, node) + " left", now);
  return next;
}

Result<Document> set_weight(const Document& document, NodeId node, std::uint32_t weight,
                            UnixMillis now) {
  const Node* found = find_node(document, node);
  const std::string what = "set weight: " + describe(document, node);
  if (found == nullptr) return conflict(what + " is unknown");
  if (found->state == NodeState::kDraining) return conflict(what + " is draining");
  if (found->weight == weight) {
    return conflict(what + " has weight " + std::to_string(weight) + " already");
  }
  if (const auto good = check_cuttable(document, what); !good) {
    return std::unexpected(good.error());
  }
  Document next = advanced(document);
  node_of(next, node).weight = weight;
  if (const Result<void> valid = validate(next); !valid) return fail("set weight", valid.error());
  keep_owners(
      document, next,
      "kept when node '" + found->name + "' changed its weight to " + std::to_string(weight), now);
  return next;
}

}  // namespace cleave::ring
