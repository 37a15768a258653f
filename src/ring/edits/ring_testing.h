// Helpers of the tests that need rings: random documents, random edits, golden files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "ring/document/base_ring.h"
#include "ring/document/document.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"
#include "ring/vnode.h"

namespace cleave::ring::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The golden file's bytes; `make golden` (CLEAVE_GOLDEN_REWRITE=1) first writes `actual` into it.
// Defined in golden_test.cc.
std::string golden(const std::string& path, const std::string& actual);

inline Node make_node(std::string name, std::uint32_t weight = 1) {
  Node node;
  node.weight = weight;
  node.members = {{.address = name + ".example:7000", .rack = "r-" + name}};
  node.name = std::move(name);
  return node;
}

// Nodes "a", "b", ... of the weights given.
inline std::vector<Node> make_nodes(const std::vector<std::uint32_t>& weights) {
  std::vector<Node> nodes;
  for (const std::uint32_t weight : weights) {
    nodes.push_back(make_node(std::string(1, static_cast<char>('a' + nodes.size())), weight));
    nodes.back().id = NodeId{static_cast<std::uint32_t>(nodes.size())};
  }
  return nodes;
}

// The base of these nodes under `vnode`; none where no node is active.
inline std::vector<Arc> base_arcs(const std::vector<Node>& nodes) {
  Document document;
  document.scheme.name = kVnodeScheme;
  document.nodes = nodes;
  Result<BaseRing> base = make_base(document);
  return base ? std::move(base->arcs) : std::vector<Arc>();
}

inline Document make_document(const std::vector<std::uint32_t>& weights,
                              const SchemeSpec& scheme = {.name = "vnode"}) {
  auto document = create({.pool = "main",
                          .mark = "m1",
                          .nodes = make_nodes(weights),
                          .scheme = scheme,
                          .mode = Mode::kAuto,
                          .now = UnixMillis{1'000}});
  EXPECT_TRUE(document) << document.error().message;
  return document.value_or(Document{});
}

inline RingSnapshot view_of(const Document& document) {
  auto view = RingView::build(document);
  EXPECT_TRUE(view) << view.error().message;
  return view.value_or(nullptr);
}

// The owner, the slow and certain way.
inline NodeId owner_by_search(const RingView& view, Token token) {
  for (const Entry& entry : view.entries()) {
    if (entry.range.contains(token)) return entry.node;
  }
  return NodeId{};
}

// Mostly at or beside a boundary, where the mistakes are.
inline Token any_token(Rng& rng, const RingView& view) {
  const auto entries = view.entries();
  const TokenRange range = entries[rng.below(entries.size())].range;
  switch (rng.below(6)) {
    case 0: return range.first;
    case 1: return range.last;
    case 2: return Token{range.first.value() - 1};  // wraps at 0, as the ring does
    case 3: return Token{range.last.value() + 1};
    case 4: return Token{range.first.value() + (range.last.value() - range.first.value()) / 2};
    default: return Token{rng.next()};
  }
}

// All or a part of the range, sometimes a single token.
inline TokenRange any_part(Rng& rng, TokenRange range) {
  if (rng.chance(1, 8)) return {range.first, range.first};
  const std::uint64_t span = range.last.value() - range.first.value();
  const std::uint64_t from = rng.chance(1, 2) ? 0 : rng.below(span / 2 + 1);
  const std::uint64_t cut_off = rng.chance(1, 2) ? 0 : rng.below(span / 2 + 1);
  return {Token{range.first.value() + from}, Token{range.last.value() - cut_off}};
}

// Mostly vnode; else one of each kind that can be cut: at or above, nearest, by position, a table,
// slots, signed. Of few points, because every edit places them anew.
inline SchemeSpec any_scheme(Rng& rng) {
  switch (rng.below(12)) {
    case 0: return {.name = "murmur64a-vnode", .options = {{"points", "6"}}};
    case 1: return {.name = "haproxy", .options = {{"method", "consistent"}}};
    case 2: return {.name = "jedis"};
    case 3: return {.name = "codis"};
    case 4: return {.name = "envoy-maglev", .options = {{"table_size", "31"}}};
    case 5: return {.name = "java-vnode", .options = {{"points", "7"}}};
    default: return {.name = "vnode"};
  }
}

// One for each function of ring/edits/edits.h that changes a document.
enum class EditKind : std::uint8_t {
  kJoin,
  kRemoveRouter,
  kLead,
  kBegin,
  kEnter,
  kFence,
  kCommit,
  kJudge,
  kDrop,
  kRelease,
  kBeginTakingBack,
  kTakeBack,
  kAbort,
  kCut,
  kMerge,
  kAddNode,
  kDrain,
  kRemoveNode,
  kWeight,
  kFrozen,
  kMode,
  kExpect,
  kForget,
  kForgetEnded,
  kOldReaders,
  kForgetLeftover,
  kAbortByOrder,
  kFlatten,
  kResume,
  kAcceptStrays,
};
inline constexpr std::size_t kEditKinds = 30;

// Draws edits of a document; not every one that is drawn is possible.
class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }

  Document document() {
    std::vector<std::uint32_t> weights(1 + rng_.below(4));
    for (std::uint32_t& weight : weights) weight = 1 + static_cast<std::uint32_t>(rng_.below(2));
    return make_document(weights, any_scheme(rng_));
  }

  // What moves and leftovers need next is drawn more often than the rest, so that they get far.
  EditKind kind(const Document& from) {
    if (rng_.chance(1, 2)) return static_cast<EditKind>(rng_.below(kEditKinds));
    // Rarely possible, so drawn more often.
    if (rng_.chance(1, 6)) return rng_.chance(2, 3) ? EditKind::kRemoveNode : EditKind::kForget;
    if (!from.leftovers.empty() && rng_.chance(1, 2)) return next_of(any_leftover(from));
    return from.moves.empty() ? EditKind::kBegin : next_of(from, any_move(from));
  }

  Result<Document> apply(EditKind kind, const Document& from) {
    now_ = UnixMillis{now_.value() + static_cast<std::int64_t>(rng_.below(1'000))};
    switch (kind) {
      case EditKind::kJoin:
        return join(from, {.session = SessionId{"s" + std::to_string(rng_.below(9))}});
      case EditKind::kRemoveRouter: return remove_router(from, any_router(from));
      case EditKind::kLead: return lead(from, any_router(from));
      case EditKind::kBegin: return begin(from);
      case EditKind::kFence: return fence_move(from, any_move(from).id, any_move_.phase_epoch);
      case EditKind::kCommit:
        return commit_move(
            from, any_move(from).id, any_move_.phase_epoch,
            {.incarnation = {.run_id = "run", .replication_id = "repl"}, .offset = rng_.below(3)},
            now_);
      case EditKind::kEnter:
        return enter_copies(from, any_move(from).id, any_move_.phase_epoch, now_, "server");
      case EditKind::kJudge:
        if (rng_.chance(1, 2)) return keep_leftover(from, any_leftover(from), "lost");
        return begin_cleaning(from, any_leftover(from));
      case EditKind::kDrop: return drop_leftover(from, any_leftover(from));
      case EditKind::kRelease: return release_leftover(from, any_leftover(from));
      case EditKind::kBeginTakingBack: return begin_taking_back(from, any_leftover(from), now_);
      case EditKind::kTakeBack: {
        const Move& move = any_move(from);
        const Leftover* kept = find_leftover(from, move.takes_back);
        return take_back(from, move.id, move.phase_epoch, kept == nullptr ? Leftover{} : *kept,
                         now_);
      }
      case EditKind::kForgetLeftover: return forget_leftover(from, any_leftover(from));
      case EditKind::kAbortByOrder: return abort_by_order(from, {{any_move(from).id}});
      case EditKind::kFlatten: return flatten(from, now_);
      case EditKind::kResume: return resume(from);
      case EditKind::kAcceptStrays:
        return accept_strays(from, {{.node = any_node(from), .strays = rng_.below(9)}});
      case EditKind::kOldReaders: return set_old_readers(from, rng_.chance(1, 4));
      case EditKind::kAbort: return abort_move(from, any_move(from).id, any_move_.phase_epoch);
      case EditKind::kCut: return cut(from);
      case EditKind::kMerge: return merge_cuts(from, any_part(rng_, kAll), now_);
      case EditKind::kAddNode: return add(from);
      case EditKind::kDrain: return drain_node(from, any_node(from), now_);
      case EditKind::kRemoveNode: return remove_node(from, any_node(from), now_);
      case EditKind::kWeight:
        return set_weight(from, any_node(from), 1 + static_cast<std::uint32_t>(rng_.below(3)),
                          now_);
      case EditKind::kFrozen: return set_frozen(from, rng_.chance(1, 4));
      case EditKind::kMode: return set_mode(from, static_cast<Mode>(rng_.below(3)));
      case EditKind::kExpect: return expect(from, {any_event()}, now_);
      case EditKind::kForget: return forget(from, "e" + std::to_string(rng_.below(2)), now_);
      case EditKind::kForgetEnded: return forget_ended(from, now_);
    }
    return fail(Code::kInvalid, "no such edit");
  }

 private:
  static constexpr TokenRange kAll{kFirstToken, kLastToken};

  NodeId any_node(const Document& from) { return from.nodes[rng_.below(from.nodes.size())].id; }

  SessionId any_router(const Document& from) {
    if (from.routers.empty()) return SessionId{"nobody"};
    return from.routers[rng_.below(from.routers.size())].session;
  }

  const Move& any_move(const Document& from) {
    any_move_ = from.moves.empty() ? Move{} : from.moves[rng_.below(from.moves.size())];
    return any_move_;
  }

  EditKind next_of(const Leftover& leftover) {
    if (leftover.kept() && rng_.chance(1, 2)) return EditKind::kBeginTakingBack;
    if (leftover.kept()) return rng_.chance(1, 2) ? EditKind::kRelease : EditKind::kForgetLeftover;
    const bool drops = leftover.holder == NodeId{} || leftover.state == LeftoverState::kBegun;
    return drops && rng_.chance(3, 4) ? EditKind::kDrop : EditKind::kJudge;
  }

  EditKind next_of(const Document& from, const Move& move) {
    if (rng_.chance(1, 6)) return EditKind::kAbort;
    if (move.takes_back != MoveId{}) return EditKind::kTakeBack;
    if (move.phase == Phase::kFenced) return EditKind::kCommit;
    return find_leftover(from, move.id) == nullptr ? EditKind::kEnter : EditKind::kFence;
  }

  Leftover any_leftover(const Document& from) {
    return from.leftovers.empty() ? Leftover{} : from.leftovers[rng_.below(from.leftovers.size())];
  }

  Result<Document> begin(const Document& from) {
    const auto view = view_of(from);
    const auto entries = view->entries();
    MoveRequest request{.ranges = {},
                        .source = entries[rng_.below(entries.size())].node,
                        .destination = any_node(from),
                        .reason = "hot",
                        .now = now_};
    const std::size_t start = rng_.below(entries.size());
    for (std::size_t i = 0; i < entries.size() && request.ranges.size() < 3; ++i) {
      const Entry& entry = entries[(start + i) % entries.size()];
      if (entry.node == request.source) request.ranges.push_back(any_part(rng_, entry.range));
    }
    return begin_move(from, request);
  }

  Result<Document> cut(const Document& from) {
    const auto view = view_of(from);
    const Entry& entry = view->entries()[rng_.below(view->entries().size())];
    return lay_cut(from, {.range = any_part(rng_, entry.range),
                          .node = entry.node,
                          .reason = "boundary",
                          .created = now_,
                          .pinned_until = UnixMillis{rng_.chance(1, 3) ? now_.value() + 500 : 0}});
  }

  Result<Document> add(const Document& from) {
    if (from.nodes.size() >= 6) return fail(Code::kExhausted, "enough nodes for a test");
    Node node = make_node("n" + std::to_string(from.next_node.value()));
    if (rng_.chance(1, 4)) node.hash_key = "10.0.0." + std::to_string(rng_.below(99)) + ":6379";
    return add_node(from, node, now_);
  }

  ExpectedEvent any_event() {
    const auto later = [&](UnixMillis time) {
      return UnixMillis{time.value() + static_cast<std::int64_t>(rng_.below(1'000))};
    };
    ExpectedEvent event{
        .name = "e" + std::to_string(rng_.below(2)), .lead_from = now_, .loads = {}};
    event.start = later(event.lead_from);
    event.end = UnixMillis{later(event.start).value() + 1};
    for (std::uint64_t count = 1 + rng_.below(2); count > 0; --count) {
      event.loads.push_back({any_part(rng_, kAll), 1 + rng_.below(kExpectedLoadMax)});
    }
    return event;
  }

  Rng rng_;
  UnixMillis now_{2'000};
  Move any_move_;
};

// A document after up to `edits_max` edits that were possible.
inline Document edited_document(RandomEdits& edits, std::size_t edits_max) {
  Document document = edits.document();
  for (std::size_t i = edits.rng().below(edits_max + 1); i > 0; --i) {
    auto next = edits.apply(edits.kind(document), document);
    if (next) document = std::move(*next);
  }
  return document;
}

}  // namespace cleave::ring::testing
