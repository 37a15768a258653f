#include "ring/view/view.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/canonical.h"
#include "ring/document/validate.h"
#include "ring/view/ownership.h"

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
  // A token is in one move at most (rule 12).
  CHECK(are_disjoint(marks));
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
      CHECK(piece.range.first <= piece.range.last);
      result.push_back(piece);
      if (piece.range.last == rest.range.last) break;
      rest.range.first = Token{piece.range.last.value() + 1};
    }
  }
  return result;
}

}  // namespace

Result<std::shared_ptr<const RingView>> RingView::build(Document document, const RingView* before) {
  if (const auto valid = validate_fields(document); !valid) return fail("ring", valid.error());
  // Not make_shared: the constructor is private.
  std::shared_ptr<RingView> view(new RingView(std::move(document)));
  const Document& from = view->document_;
  if (before != nullptr && same_base(before->document_, from)) {
    view->base_ = before->base_;
  } else {
    Result<BaseRing> base = make_base(from);
    if (!base) return fail("ring", base.error());
    view->base_ = std::make_shared<const BaseRing>(std::move(*base));
  }
  if (const auto valid = validate_base(from, *view->base_->placement); !valid) {
    return fail("ring", valid.error());
  }
  view->entries_ = marked(overlay(view->base_->arcs, from.cuts), marks_of(from.moves));
  CHECK(!view->entries_.empty() && view->entries_.size() < kNone);
  CHECK(view->entries_.front().range.first == kFirstToken);
  CHECK(view->entries_.back().range.last == kLastToken);
  std::vector<Token> firsts;
  firsts.reserve(view->entries_.size());
  for (const Entry& entry : view->entries_) firsts.push_back(entry.range.first);
  view->index_ = TokenIndex(std::move(firsts));
  return view;
}

Token RingView::token_of(std::string_view key) const {
  return base_->placement->token_of(key).value_or(kFirstToken);
}

const Move* RingView::move_at(Token token) const {
  const std::uint32_t move = entry(find(token)).move;
  return move == kNone ? nullptr : &document_.moves[move];
}

std::vector<Arc> RingView::base_in(const TokenRange& range) const {
  CHECK(range.first <= range.last);
  std::vector<Arc> inside;
  const std::vector<Arc>& arcs = base_->arcs;
  auto arc = std::ranges::lower_bound(arcs, range.first, {},
                                      [](const Arc& each) { return each.range.last; });
  for (; arc != arcs.end() && arc->range.first <= range.last; ++arc) {
    inside.push_back({common(arc->range, range), arc->node});
  }
  return inside;
}

RangeSet RingView::owned_by(NodeId node) const {
  std::vector<TokenRange> ranges;
  for (const Entry& entry : entries_) {
    if (entry.node == node) ranges.push_back(entry.range);
  }
  return normalised(std::move(ranges));
}

}  // namespace cleave::ring
