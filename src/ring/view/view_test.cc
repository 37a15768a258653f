#include "ring/view/view.h"

#include <gtest/gtest.h>

#include "ring/arc_table.h"
#include "ring/edits/ring_testing.h"
#include "ring/schemes/placement.h"
#include "ring/view/ownership.h"
#include "ring/vnode.h"

namespace cleave::ring {
namespace {

using testing::any_token;
using testing::make_document;
using testing::RandomEdits;
using testing::view_of;

std::uint32_t index_by_search(const RingView& view, Token token) {
  std::uint32_t index = 0;
  while (!view.entries()[index].range.contains(token)) ++index;
  return index;
}

void expect_covers_all_once(const RingView& view) {
  std::uint64_t next = 0;
  for (const Entry& entry : view.entries()) {
    ASSERT_EQ(entry.range.first.value(), next);
    ASSERT_LE(entry.range.first, entry.range.last);
    next = entry.range.last.value() + 1;
  }
  ASSERT_EQ(view.entries().back().range.last, kLastToken);
}

// Cut and move of an entry are those that hold its tokens; its neighbour differs in something.
void expect_entries_tell_the_truth(const RingView& view) {
  const Document& document = view.document();
  const Entry* previous = nullptr;
  for (const Entry& entry : view.entries()) {
    for (std::uint32_t i = 0; i < document.cuts.size(); ++i) {
      ASSERT_EQ(document.cuts[i].range.overlaps(entry.range), entry.cut == i);
    }
    for (std::uint32_t i = 0; i < document.moves.size(); ++i) {
      ASSERT_EQ(overlap(document.moves[i].ranges, {entry.range}), entry.move == i);
    }
    if (entry.cut != kNone) {
      ASSERT_EQ(entry.node, document.cuts[entry.cut].node);
    }
    if (previous != nullptr) {
      const bool same = previous->node == entry.node && previous->cut == entry.cut &&
                        previous->move == entry.move;
      ASSERT_FALSE(same) << to_string(entry.range);
    }
    previous = &entry;
  }
}

TEST(RingView, KnowsTheBaseBelowItsCutsAndMoves) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto view = view_of(edited_document(edits, 12));
    const std::vector<Arc> base = base_of(view->document());
    ASSERT_EQ(view->base_in({kFirstToken, kLastToken}), base);
    Rng rng(seed);
    Token first = any_token(rng, *view);
    Token last = any_token(rng, *view);
    if (last < first) std::swap(first, last);
    std::vector<Arc> want;
    for (const Arc& arc : base) {
      if (arc.range.overlaps({first, last})) {
        want.push_back({common(arc.range, {first, last}), arc.node});
      }
    }
    ASSERT_EQ(view->base_in({first, last}), want);
  }
}

TEST(RingView, FindsWhatALinearSearchFinds) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto view = view_of(edited_document(edits, 12));
    expect_covers_all_once(*view);
    expect_entries_tell_the_truth(*view);
    for (int i = 0; i < 20; ++i) {
      const Token token = any_token(edits.rng(), *view);
      ASSERT_EQ(view->find(token).value(), index_by_search(*view, token)) << to_hex(token);
    }
    for (const Token token : {kFirstToken, kLastToken}) {
      ASSERT_EQ(view->find(token).value(), index_by_search(*view, token)) << to_hex(token);
    }
  }
}

// A hot range cut a thousand times lies within one step of the radix index.
TEST(RingView, FindsInARangeCutVeryFinely) {
  Document document = make_document({1, 1});
  document.cuts.clear();
  const std::uint64_t start = 0x1234567800000000U;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    const Token first{start + i * 3};
    document.cuts.push_back({.range = {first, Token{first.value() + i % 3}},
                             .node = NodeId{1 + i % 2},
                             .reason = "",
                             .created = {},
                             .pinned_until = {}});
  }
  const auto view = view_of(document);
  expect_covers_all_once(*view);
  for (std::uint64_t token = start - 5; token < start + 3'010; ++token) {
    ASSERT_EQ(view->find(Token{token}).value(), index_by_search(*view, Token{token})) << token;
  }
}

TEST(RingView, OneNodeOwnsEverything) {
  const auto view = view_of(make_document({1}));
  ASSERT_EQ(view->entries().size(), 1U);
  EXPECT_EQ(view->owner(kFirstToken), NodeId{1});
  EXPECT_EQ(view->owner(kLastToken), NodeId{1});
  EXPECT_EQ(view->owned_by(NodeId{1}), (RangeSet{{kFirstToken, kLastToken}}));
}

TEST(RingView, PlacesKeysByTheScheme) {
  const auto view = view_of(make_document({1, 1}));
  EXPECT_EQ(view->token_of("{user1}.a"), vnode_token("user1"));
  for (const SchemeText& scheme : schemes()) {
    SCOPED_TRACE(scheme.name);
    if (scheme.name == "jump" || scheme.name == "guava") continue;  // they place numbers
    if (scheme.name == kVnodeScheme) continue;                      // it is evened by cuts
    const SchemeSpec spec{.name = std::string(scheme.name)};
    const auto pool = view_of(make_document({1, 1, 1}, spec));
    ASSERT_NE(pool, nullptr);
    const auto placement = place(spec, std::vector<PlacedNode>{{"a"}, {"b"}, {"c"}});
    ASSERT_TRUE(placement) << placement.error().message;
    for (int i = 0; i < 500; ++i) {
      const std::string key = "k" + std::to_string(i);
      ASSERT_EQ(pool->owner(pool->token_of(key)).value() - 1, (*placement)->owner(key)) << key;
    }
  }
}

TEST(RingView, AKeyThatThePeerHasNoPlaceForIsOnTheFirstToken) {
  const auto view =
      view_of(make_document({1, 1}, {.name = "nginx", .options = {{"method", "consistent"}}}));
  EXPECT_EQ(view->token_of(""), kFirstToken);
}

// The base is shared with the view before, or not: nobody can tell.
TEST(RingView, IsTheSameWithAndWithoutTheOneBefore) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto before = view_of(edited_document(edits, 4));
    const auto next = edits.apply(edits.kind(before->document()), before->document());
    if (!next) continue;
    const auto fresh = view_of(*next);
    const auto sharing = RingView::build(*next, before.get());
    ASSERT_TRUE(sharing) << sharing.error().message;
    ASSERT_TRUE(std::ranges::equal((*sharing)->entries(), fresh->entries()));
    ASSERT_EQ((*sharing)->base_in({kFirstToken, kLastToken}),
              fresh->base_in({kFirstToken, kLastToken}));
    const std::string key = "k" + std::to_string(seed);
    ASSERT_EQ((*sharing)->token_of(key), fresh->token_of(key));
  }
}

TEST(RingView, ShowsTheMoveOfAToken) {
  Document document = make_document({1, 1});
  const Entry entry = view_of(document)->entries()[3];
  const NodeId other{entry.node == NodeId{1} ? 2U : 1U};
  const auto moving = begin_move(document, {.ranges = {entry.range},
                                            .source = entry.node,
                                            .destination = other,
                                            .reason = "",
                                            .now = {}});
  ASSERT_TRUE(moving) << moving.error().message;
  const auto view = view_of(*moving);
  ASSERT_NE(view->move_at(entry.range.first), nullptr);
  EXPECT_EQ(view->move_at(entry.range.first)->destination, other);
  EXPECT_EQ(view->owner(entry.range.first), entry.node);  // until the commit
  EXPECT_EQ(view->move_at(Token{entry.range.last.value() + 1}), nullptr);
}

TEST(RingView, OwnedRangesPartitionTheRing) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto view = view_of(edited_document(edits, 6));
    std::vector<TokenRange> all;
    std::size_t parts = 0;
    for (const Node& node : view->document().nodes) {
      const RangeSet owned = view->owned_by(node.id);
      ASSERT_EQ(normalised(owned), owned);
      for (const TokenRange& range : owned) {
        ASSERT_EQ(view->owner(range.first), node.id);
        ASSERT_EQ(view->owner(range.last), node.id);
      }
      parts += owned.size();
      all.insert(all.end(), owned.begin(), owned.end());
    }
    ASSERT_EQ(normalised(all), (RangeSet{{kFirstToken, kLastToken}}));
    std::ranges::sort(all);
    for (std::size_t i = 1; i < parts; ++i) ASSERT_FALSE(all[i - 1].overlaps(all[i]));
  }
}

TEST(RingView, RefusesAnInvalidDocument) {
  Document document = make_document({1, 1});
  document.scheme.name = "unheard-of";
  const auto view = RingView::build(document);
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cleave::ring
