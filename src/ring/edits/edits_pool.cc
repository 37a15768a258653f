// Edits of what a pool is and who routes it: creation, sessions, leader, switches (edits.h).
#include <algorithm>
#include <utility>

#include "ring/document/even.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"
#include "ring/view/ownership.h"
#include "ring/vnode.h"

namespace cleave::ring {

Result<Document> create(const Creation& creation) {
  Document document;
  document.epoch = Epoch{1};
  document.pool = creation.pool;
  document.mark = creation.mark;
  document.mode = creation.mode;
  document.scheme = creation.scheme;
  for (Node node : creation.nodes) {
    if (node.id == NodeId{}) node.id = document.next_node;
    document.next_node = NodeId{node.id.value() + 1};
    document.nodes.push_back(std::move(node));
  }
  if (const Result<void> valid = validate(document); !valid) {
    return fail("create pool '" + creation.pool + "'", valid.error());
  }
  if (document.scheme.name == kVnodeScheme) {
    document.cuts = even_cuts(document.nodes, base_of(document), creation.now);
  }
  return document;
}

Result<Document> join(const Document& document, Router router) {
  if (has_router(document, router.session)) {
    return fail(Code::kConflict, "join: session '" + router.session.value() + "' is there already");
  }
  Document next = advanced(document);
  const auto place =
      std::ranges::lower_bound(next.routers, router.session, std::less{}, &Router::session);
  next.routers.insert(place, std::move(router));
  if (const Result<void> valid = validate(next); !valid) return fail("join", valid.error());
  return next;
}

Result<Document> remove_router(const Document& document, const SessionId& session) {
  if (!has_router(document, session)) {
    return fail(Code::kConflict, "remove router: no session '" + session.value() + "'");
  }
  Document next = advanced(document);
  std::erase_if(next.routers, [&](const Router& router) { return router.session == session; });
  // A leader that is gone leads no more; the term stays, so that the next one is higher.
  if (next.leader.session == session) next.leader.session = SessionId{};
  abort_unfinished(next);
  return next;
}

Result<Document> lead(const Document& document, const SessionId& session) {
  if (!has_router(document, session)) {
    return fail(Code::kConflict, "lead: no session '" + session.value() + "'");
  }
  Document next = advanced(document);
  next.leader = {.session = session, .term = Term{document.leader.term.value() + 1}};
  abort_unfinished(next);
  return next;
}

Result<Document> accept_strays(const Document& document, const std::vector<AcceptedStrays>& known) {
  Document next = advanced(document);
  for (const AcceptedStrays& each : known) {
    const auto node = std::ranges::find(next.nodes, each.node, &Node::id);
    if (node != next.nodes.end()) node->strays = std::min(each.strays, kNumberMax);
  }
  return next;
}

// Mode observe, or the balancer would cut again what has just been joined.
Result<Document> flatten(const Document& document, UnixMillis now) {
  Result<Document> next = merge_cuts(document, {kFirstToken, kLastToken}, now);
  if (!next) next = advanced(document);  // nothing agrees with the base
  next->mode = Mode::kObserve;
  next->flatten = true;
  return next;
}

Result<Document> resume(const Document& document) {
  Document next = advanced(document);
  next.frozen = false;
  next.old_readers = false;
  next.flatten = false;
  return next;
}

Result<Document> set_frozen(const Document& document, bool frozen) {
  Document next = advanced(document);
  next.frozen = frozen;
  return next;
}

Result<Document> set_mode(const Document& document, Mode mode) {
  Document next = advanced(document);
  next.mode = mode;
  return next;
}

}  // namespace cleave::ring
