#include "ring/document.h"

#include <algorithm>

namespace cleave::ring {

const Node* find_node(const Document& document, NodeId id) {
  const auto found = std::ranges::find(document.nodes, id, &Node::id);
  return found == document.nodes.end() ? nullptr : &*found;
}

const Node* find_node(const Document& document, std::string_view name) {
  const auto found = std::ranges::find(document.nodes, name, &Node::name);
  return found == document.nodes.end() ? nullptr : &*found;
}

const Move* find_move(const Document& document, MoveId id) {
  const auto found = std::ranges::find(document.moves, id, &Move::id);
  return found == document.moves.end() ? nullptr : &*found;
}

const ExpectedEvent* find_event(const Document& document, std::string_view name) {
  const auto found = std::ranges::find(document.expected, name, &ExpectedEvent::name);
  return found == document.expected.end() ? nullptr : &*found;
}

const Router* find_router(const Document& document, const SessionId& session) {
  const auto found = std::ranges::find(document.routers, session, &Router::session);
  return found == document.routers.end() ? nullptr : &*found;
}

std::vector<SessionId> sessions_of(const Document& document) {
  std::vector<SessionId> sessions;
  for (const Router& router : document.routers) sessions.push_back(router.session);
  return sessions;
}

bool has_router(const Document& document, const SessionId& session) {
  return find_router(document, session) != nullptr;
}

std::string_view to_string(NodeState state) {
  switch (state) {
    case NodeState::kActive: return "active";
    case NodeState::kDraining: return "draining";
  }
  return "unknown";
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kCopying: return "copying";
    case Phase::kFenced: return "fenced";
    case Phase::kClean: return "clean";
  }
  return "unknown";
}

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::kObserve: return "observe";
    case Mode::kApprove: return "approve";
    case Mode::kAuto: return "auto";
  }
  return "unknown";
}

Result<NodeState> parse_node_state(std::string_view text) {
  for (const NodeState state : {NodeState::kActive, NodeState::kDraining}) {
    if (text == to_string(state)) return state;
  }
  return fail(Code::kInvalid,
              "node state: want active or draining, got '" + std::string(text) + "'");
}

Result<Phase> parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::kCopying, Phase::kFenced, Phase::kClean}) {
    if (text == to_string(phase)) return phase;
  }
  return fail(Code::kInvalid,
              "phase: want copying, fenced or clean, got '" + std::string(text) + "'");
}

Result<Mode> parse_mode(std::string_view text) {
  for (const Mode mode : {Mode::kObserve, Mode::kApprove, Mode::kAuto}) {
    if (text == to_string(mode)) return mode;
  }
  return fail(Code::kInvalid,
              "mode: want observe, approve or auto, got '" + std::string(text) + "'");
}

}  // namespace cleave::ring
