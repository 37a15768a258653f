#include "ring/view.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/ownership.h"
#include "ring/scheme.h"

namespace cleave::ring {
namespace {

struct Mark {
  TokenRange range;
  std::uint32_t move;
};

std::vector<Mark> marks_of(std::span<const Move> moves) {
  std::vector<Mark> marks;
  for (std::uint32_t index = 0; index < moves.size(); ++index) {
    for (const TokenRange& range : moves[index].ranges) marks.push_back({range, index});
  }
  std::ranges::sort(marks, {}, &Mark::range);
  return marks;
}

// Cuts the entries where the moves' ranges begin and end. Both are sorted and disjoint.
std::vector<Entry> marked(const std::vector<Entry>& entries, const std::vector<Mark>& marks) {
  std::vector<Entry> result;
  result.reserve(entries.size() + 2 * marks.size());
  auto mark = marks.begin();
  for (Entry rest : entries) {
    for (;;) {
      while (mark != marks.end() && mark->range.last < rest.range.first) ++mark;
      Entry piece = rest;
      if (mark != marks.end() && mark->range.contains(piece.range.first)) {
        piece.move = mark->move;
        piece.range.last = std::min(piece.range.last, mark->range.last);
      } else if (mark != marks.end()) {
        piece.range.last = std::min(piece.range.last, Token{mark->range.first.value() - 1});
      }
      result.push_back(piece);
      if (piece.range.last == rest.range.last) break;
      rest.range.first = Token{piece.range.last.value() + 1};
    }
  }
  return result;
}

// The arcs of `base` that lie below the cuts, trimmed to them. Requires: cuts sorted.
std::vector<Arc> below(std::span<const Arc> base, std::span<const Cut> cuts) {
  std::vector<Arc> result;
  for (const Cut& cut : cuts) {
    auto arc = std::ranges::lower_bound(base, cut.range.first, {},
                                        [](const Arc& each) { return each.range.last; });
    for (; arc != base.end() && arc->range.first <= cut.range.last; ++arc) {
      result.push_back({common(arc->range, cut.range), arc->node});
    }
  }
  return result;
}

void append(std::vector<Arc>& arcs, const Arc& arc) {
  if (!arcs.empty() && arcs.back().node == arc.node) {
    arcs.back().range.last = arc.range.last;
  } else {
    arcs.push_back(arc);
  }
}

}  // namespace

Result<std::shared_ptr<const RingView>> RingView::build(Document document) {
  if (const Result<void> valid = validate(document); !valid) return fail("ring", valid.error());
  // Not make_shared: the constructor is private.
  const std::shared_ptr<RingView> view(new RingView(std::move(document)));
  const Document& from = view->document_;
  const std::vector<Arc> base = base_of(from);
  view->entries_ = marked(overlay(base, from.cuts), marks_of(from.moves));
  view->below_cuts_ = below(base, from.cuts);
  CHECK(view->entries_.size() < kNone);
  std::vector<Token> firsts;
  firsts.reserve(view->entries_.size());
  for (const Entry& entry : view->entries_) firsts.push_back(entry.range.first);
  view->index_ = TokenIndex(std::move(firsts));
  return view;
}

Token RingView::token_of(std::string_view key) const { return vnode_token(key); }

const Move* RingView::move_at(Token token) const {
  const std::uint32_t move = entry(find(token)).move;
  return move == kNone ? nullptr : &document_.moves[move];
}

std::vector<Arc> RingView::base_in(const TokenRange& range) const {
  std::vector<Arc> arcs;
  for (std::size_t at = find(range.first).value(); at < entries_.size(); ++at) {
    const Entry& entry = entries_[at];
    if (range.last < entry.range.first) break;
    const TokenRange inside = common(entry.range, range);
    if (entry.cut == kNone) {
      append(arcs, {inside, entry.node});
      continue;
    }
    auto arc = std::ranges::lower_bound(below_cuts_, inside.first, {},
                                        [](const Arc& each) { return each.range.last; });
    for (; arc != below_cuts_.end() && arc->range.first <= inside.last; ++arc) {
      append(arcs, {common(arc->range, inside), arc->node});
    }
  }
  return arcs;
}

RangeSet RingView::owned_by(NodeId node) const {
  std::vector<TokenRange> ranges;
  for (const Entry& entry : entries_) {
    if (entry.node == node) ranges.push_back(entry.range);
  }
  return normalised(std::move(ranges));
}

}  // namespace cleave::ring
