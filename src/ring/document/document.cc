#include "ring/document/document.h"

#include <algorithm>

#include "ring/document/text_format.h"

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

const Leftover* find_leftover(const Document& document, MoveId move) {
  const auto found = std::ranges::find(document.leftovers, move, &Leftover::move);
  return found == document.leftovers.end() ? nullptr : &*found;
}

bool in_use(const Document& document, const Leftover& leftover) {
  return find_move(document, leftover.move) != nullptr;
}

const Router* old_reader(const Document& document) {
  const auto found = std::ranges::find_if(
      document.routers, [](const Router& router) { return router.reader < kTextFormatLeftovers; });
  return found == document.routers.end() ? nullptr : &*found;
}

const Router* find_router(const Document& document, const SessionId& session) {
  const auto found = std::ranges::find(document.routers, session, &Router::session);
  return found == document.routers.end() ? nullptr : &*found;
}

std::vector<SessionId> sessions_of(const Document& document) {
  std::vector<SessionId> sessions;
  sessions.reserve(document.routers.size());
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

std::string_view to_string(LeftoverState state) {
  switch (state) {
    case LeftoverState::kOpen: return "open";
    case LeftoverState::kBegun: return "begun";
    case LeftoverState::kKept: return "kept";
    case LeftoverState::kKeptBegun: return "kept-begun";
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

Result<LeftoverState> parse_leftover_state(std::string_view text) {
  using enum LeftoverState;
  for (const LeftoverState state : {kOpen, kBegun, kKept, kKeptBegun}) {
    if (text == to_string(state)) return state;
  }
  return fail(Code::kInvalid, "leftover state: want open, begun, kept or kept-begun, got '" +
                                  std::string(text) + "'");
}

}  // namespace cleave::ring
