#include "admin/leftover_troubles.h"

#include <algorithm>

#include "migrate/cleaning.h"

namespace cleave::admin {
namespace {

std::string node_name(const control::Status& status, NodeId id) {
  const ring::Node* const node = ring::find_node(status.view->document(), id);
  return node == nullptr ? "?" : node->name;
}

// nullptr where nobody knows now.
const control::NodeFacts* facts_of(const control::Status& status, NodeId id) {
  const auto found = std::ranges::find(status.nodes, id, &control::NodeFacts::node);
  return found == status.nodes.end() || !found->reachable ? nullptr : &*found;
}

// Rule 23 f: the copies are at a server that is not the node's now, as far as is known.
bool is_elsewhere(const control::Status& status, const ring::Leftover& entry) {
  const control::NodeFacts* const facts = facts_of(status, entry.node);
  if (facts == nullptr) return entry.why.starts_with(migrate::kAnotherServer);
  return !entry.server.empty() && facts->note.server != entry.server;
}

// What a person can do about it.
std::string ways_on(const control::Status& status, const ring::Leftover& entry) {
  const std::string move = std::to_string(entry.move.value());
  const std::string node = node_name(status, entry.node);
  const std::string clean = "`cleave leftovers --clean " + move + "`";
  const std::string forget = "`cleave leftovers --forget " + move + "`";
  if (is_elsewhere(status, entry)) {
    return "Give " + node + "'s address back to the server of id " + entry.server + ", then " +
           clean + "; or, where that one is gone for good, " + forget + ", which deletes nothing";
  }
  if (entry.holder == NodeId{}) {
    return clean + " deletes what its owner has too; " + forget +
           " leaves all of it where it lies, as strays";
  }
  const std::string holder = node_name(status, entry.holder);
  return "Where " + holder + " lost keys: `cleave leftovers --take-back " + move + "` (" + node +
         " owns the range again; what clients wrote to " + holder +
         " since the commit is given up; where it came back empty `cleave adopt` comes first). "
         "Where " +
         holder + " has them all: " + clean;
}

std::string situation(const control::Status& status, const ring::Leftover& entry) {
  const bool begun = entry.state == ring::LeftoverState::kKeptBegun;
  if (is_elsewhere(status, entry)) return "nothing is deleted";
  if (begun) return "some keys of it were deleted before that was seen, no more will be";
  return "nothing of it was deleted, and nothing will be";
}

}  // namespace

std::string kept_text(const control::Status& status, const ring::Leftover& entry) {
  const std::string node = node_name(status, entry.node);
  const std::string went =
      entry.holder == NodeId{} ? "" : ", which went to " + node_name(status, entry.holder);
  return "node " + node + " keeps its copy of move " + std::to_string(entry.move.value()) + went +
         ", until you decide: " + entry.why + "; " + situation(status, entry) +
         ", and no move of these ranges goes to " + node + ". " + ways_on(status, entry);
}

std::string waits_text(const control::Status& status, const control::LeftoverStatus& left) {
  const std::string node = node_name(status, left.entry.node);
  return "node " + node + ": what move " + std::to_string(left.entry.move.value()) +
         " left there cannot be cleaned: " + left.stuck +
         ". It is tried again and again; no move "
         "of these ranges goes to " +
         node + " meanwhile";
}

}  // namespace cleave::admin
