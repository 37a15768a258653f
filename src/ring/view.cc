#include "ring/view.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "ring/ownership.h"
#include "ring/scheme.h"

namespace cleave::ring {
namespace {

// Steps of the radix index for each entry: with two, most steps hold at most one boundary.
constexpr std::size_t kStepsPerEntry = 2;

// More entries than this in one step (a finely cut hot range): search by halves.
constexpr std::uint32_t kScanMax = 8;

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
  view->index();
  return view;
}

void RingView::index() {
  CHECK(entries_.size() < kNone);
  firsts_.reserve(entries_.size());
  for (const Entry& entry : entries_) firsts_.push_back(entry.range.first);
  const std::size_t steps = std::bit_ceil(entries_.size() * kStepsPerEntry);
  radix_shift_ = 64U - static_cast<unsigned>(std::countr_zero(steps));
  radix_.reserve(steps + 1);
  std::uint32_t at = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Token first{step << radix_shift_};
    while (entries_[at].range.last < first) ++at;
    radix_.push_back(at);
  }
  // One step past the end, so that `find` reads the end of a step as the start of the next.
  radix_.push_back(static_cast<std::uint32_t>(entries_.size()) - 1);
}

RangeIndex RingView::find(Token token) const {
  const std::size_t step = token.value() >> radix_shift_;
  std::uint32_t at = radix_[step];
  const std::uint32_t end = radix_[step + 1];  // the last entry that can hold the token
  if (end - at > kScanMax) {
    const auto begin = firsts_.begin();
    const auto above = std::upper_bound(begin + at + 1, begin + end + 1, token);
    return RangeIndex{static_cast<std::uint32_t>(above - begin) - 1};
  }
  while (at < end && firsts_[at + 1] <= token) ++at;
  return RangeIndex{at};
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
