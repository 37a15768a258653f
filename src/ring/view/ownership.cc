#include "ring/view/ownership.h"

#include <algorithm>

#include "base/check.h"
#include "ring/document/base_ring.h"

namespace cleave::ring {
namespace {

Token before(Token token) { return Token{token.value() - 1}; }
Token after(Token token) { return Token{token.value() + 1}; }

}  // namespace

std::vector<Arc> base_of(const Document& document) {
  Result<BaseRing> base = make_base(document);
  CHECK(base);
  return std::move(base->arcs);
}

std::vector<Entry> overlay(std::span<const Arc> base, std::span<const Cut> cuts) {
  CHECK(!base.empty() && base.front().range.first == kFirstToken);
  CHECK(base.back().range.last == kLastToken);
  std::vector<Entry> entries;
  auto arc = base.begin();
  std::uint32_t next = 0;
  for (Token at = kFirstToken;; at = after(entries.back().range.last)) {
    if (next < cuts.size() && cuts[next].range.first == at) {
      CHECK(cuts[next].range.first <= cuts[next].range.last);
      entries.push_back({.range = cuts[next].range, .node = cuts[next].node, .cut = next});
      ++next;
    } else {
      while (arc->range.last < at) ++arc;
      CHECK(next == cuts.size() || at < cuts[next].range.first);  // sorted and disjoint
      Token last = arc->range.last;
      if (next < cuts.size()) last = std::min(last, before(cuts[next].range.first));
      entries.push_back({.range = {at, last}, .node = arc->node});
    }
    if (entries.back().range.last == kLastToken) return entries;
  }
}

std::vector<Arc> owners(std::span<const Entry> entries) {
  std::vector<Arc> arcs;
  for (const Entry& entry : entries) {
    if (!arcs.empty() && arcs.back().node == entry.node) {
      arcs.back().range.last = entry.range.last;
    } else {
      arcs.push_back({entry.range, entry.node});
    }
  }
  return arcs;
}

std::vector<Arc> owners(const Document& document) {
  return owners(overlay(base_of(document), document.cuts));
}

bool owns_all(std::span<const Arc> arcs, NodeId node, const RangeSet& ranges) {
  for (const TokenRange& range : ranges) {
    auto arc = std::ranges::lower_bound(arcs, range.first, {},
                                        [](const Arc& each) { return each.range.last; });
    for (; arc != arcs.end() && arc->range.first <= range.last; ++arc) {
      if (arc->node != node) return false;
    }
  }
  return true;
}

std::vector<Change> differences(std::span<const Arc> before, std::span<const Arc> after) {
  std::vector<Change> changes;
  auto left = before.begin();
  auto right = after.begin();
  while (left != before.end() && right != after.end()) {
    const TokenRange both{std::max(left->range.first, right->range.first),
                          std::min(left->range.last, right->range.last)};
    CHECK(both.first <= both.last);  // each covers every token
    if (left->node != right->node) {
      const bool joins = !changes.empty() && changes.back().from == left->node &&
                         changes.back().to == right->node &&
                         ring::after(changes.back().range.last) == both.first;
      if (joins) {
        changes.back().range.last = both.last;
      } else {
        changes.push_back({both, left->node, right->node});
      }
    }
    if (left->range.last == both.last) ++left;
    if (right->range.last == both.last) ++right;
  }
  return changes;
}

void carve(std::vector<Cut>& cuts, const TokenRange& hole) {
  CHECK(hole.first <= hole.last);
  std::vector<Cut> kept;
  kept.reserve(cuts.size() + 1);
  for (Cut& cut : cuts) {
    const TokenRange range = cut.range;
    if (!range.overlaps(hole)) {
      kept.push_back(std::move(cut));
      continue;
    }
    if (range.first < hole.first) {
      kept.push_back(cut);
      kept.back().range.last = before(hole.first);
    }
    if (range.last > hole.last) {
      kept.push_back(std::move(cut));
      kept.back().range.first = after(hole.last);
    }
  }
  cuts = std::move(kept);
}

void lay(std::vector<Cut>& cuts, const Cut& cut) {
  carve(cuts, cut.range);
  const auto place = std::ranges::lower_bound(cuts, cut.range.first, {},
                                              [](const Cut& each) { return each.range.first; });
  cuts.insert(place, cut);
}

}  // namespace cleave::ring
