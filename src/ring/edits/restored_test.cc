#include "ring/edits/restored.h"

#include <gtest/gtest.h>

#include "ring/edits/edits_testing.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

class Restored : public Edits {
 protected:
  static Document restore(const Document& saved,
                          const Restoration& how = {.pool = "p", .above = {}, .now = {}}) {
    return must(restored(saved, how));
  }
};

TEST_F(Restored, KeepsTheOwnersAndForgetsWhoRouted) {
  const Document saved = must(lead(committed(fenced(copying())), SessionId{"r1"}));
  const Document document =
      restore(saved, {.pool = "shop", .above = Epoch{5'000}, .now = UnixMillis{9'000}});
  EXPECT_EQ(document.epoch, Epoch{5'001});
  EXPECT_EQ(document.pool, "shop");
  EXPECT_EQ(document.cuts, saved.cuts);
  EXPECT_EQ(document.nodes, saved.nodes);
  EXPECT_EQ(document.mark, saved.mark);
  EXPECT_EQ(document.next_node, saved.next_node);
  EXPECT_TRUE(document.routers.empty());
  EXPECT_EQ(document.leader, (Leader{.session = SessionId{}, .term = saved.leader.term}));
  EXPECT_TRUE(document.frozen) << "until a person has looked";
  EXPECT_TRUE(validate(document));
  EXPECT_TRUE(parse_document(to_text(document)));
}

TEST_F(Restored, NeverGivesANumberASecondTime) {
  const Document saved = copying();
  EXPECT_EQ(restore(saved, {.pool = "p", .above = Epoch{1}, .now = {}}).epoch.value(),
            saved.epoch.value() + 1);
}

// Which side has copies that nobody owns. They are kept, and not acted on: since the document was
// saved the range may have moved there for good.
TEST_F(Restored, KeepsWhereCopiesOfMovesMayLie) {
  const Document begun = must(begin_move(document_, request()));
  const Document moving = copying();
  for (const Document& saved : {begun, moving, fenced(moving)}) {
    const Document made = restore(saved);
    EXPECT_TRUE(made.moves.empty());
    EXPECT_EQ(view_of(made)->owner(range_.first), NodeId{1});
    ASSERT_EQ(made.leftovers.size(), 1U);
    const Leftover& entry = made.leftovers[0];
    EXPECT_EQ(entry.move, saved.moves[0].id);
    EXPECT_EQ(entry.node, NodeId{2});
    EXPECT_EQ(entry.ranges, RangeSet{range_});
    EXPECT_TRUE(entry.kept());
    EXPECT_NE(entry.why.find("under way"), std::string::npos);
    expect_conflict(drop_leftover(made, entry), "only a person");
    expect_conflict(begin_taking_back(made, entry, {}), "nobody knows");
    EXPECT_TRUE(must(release_leftover(made, entry)).leftovers[0].why.empty());
  }
}

// Begun or not: what the file says of the destination was true when it was saved.
TEST_F(Restored, KeepsTheSavedLeftoversForAPerson) {
  const Document done = committed(fenced(copying()));
  const Document begun = must(begin_cleaning(done, done.leftovers[0]));
  const Leftover open = restore(done).leftovers.at(0);
  EXPECT_EQ(open.state, LeftoverState::kKept);
  EXPECT_EQ(open.holder, NodeId{}) << "nobody knows whether it lost its data";
  EXPECT_NE(open.why.find("restored"), std::string::npos);
  EXPECT_EQ(restore(begun).leftovers.at(0).state, LeftoverState::kKeptBegun);
}

// That the destination had lost its data was seen before: it is as true now.
TEST_F(Restored, WhatWasKeptIsKeptAsItWas) {
  const Document done = committed(fenced(copying()));
  const Document kept = must(keep_leftover(done, done.leftovers[0], "lost"));
  const Document taking = must(begin_taking_back(kept, kept.leftovers[0], {}));
  for (const Document& saved : {kept, taking}) {
    const Document made = restore(saved);
    EXPECT_EQ(made.leftovers, kept.leftovers);
    Document resumed = made;
    resumed.frozen = false;
    EXPECT_TRUE(begin_taking_back(resumed, resumed.leftovers[0], {}));
  }
}

// Whatever was saved: a ring comes back that is valid, owns what it owned, cleans nothing by itself
// and lets no move write where one that was under way may have written.
TEST(RestoredLaws, HoldForAnySavedDocument) {
  std::size_t moving = 0;
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const Document saved = edited_document(edits, 60);
    const auto made = restored(saved, {.pool = "p", .above = saved.epoch, .now = UnixMillis{1}});
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(parse_document(to_text(*made)));
    ASSERT_TRUE(made->moves.empty());
    for (const Leftover& entry : made->leftovers) ASSERT_TRUE(entry.kept());
    for (const Move& move : saved.moves) {
      if (move.takes_back != MoveId{}) continue;
      ++moving;
      const Leftover* entry = find_leftover(*made, move.id);
      ASSERT_NE(entry, nullptr);
      ASSERT_EQ(entry->node, move.destination);
      ASSERT_EQ(entry->ranges, move.ranges);
    }
    for (const Leftover& entry : saved.leftovers)
      ASSERT_NE(find_leftover(*made, entry.move), nullptr);
    const auto before = view_of(saved);
    const auto after = view_of(*made);
    for (int i = 0; i < 50; ++i) {
      const Token token = any_token(edits.rng(), *before);
      ASSERT_EQ(before->owner(token), after->owner(token));
      for (const Leftover& entry : made->leftovers)
        ASSERT_FALSE(after->owner(token) == entry.node && contains(entry.ranges, token));
    }
  }
  EXPECT_GE(moving, 100U);
}

}  // namespace
}  // namespace cleave::ring
