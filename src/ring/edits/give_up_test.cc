#include "ring/edits/give_up.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

// What move 1 left at the node that does not own the token.
Document kept_document(const std::string& why) {
  Document document = testing::make_document({1, 1});
  const RingSnapshot view = *RingView::build(document);
  const NodeId other{view->owner(Token{5}) == NodeId{1} ? 2U : 1U};
  Leftover entry{.move = MoveId{1}, .node = other, .ranges = {{Token{5}, Token{5}}}, .since = {}};
  entry.state = LeftoverState::kKept;
  entry.server = "id";
  entry.why = why;
  document.leftovers = {entry};
  return document;
}

TEST(GiveUp, RemembersThatLastCopiesStay) {
  for (const char* why : {"the ring was restored", ""}) {
    const Document document = kept_document(why);
    EXPECT_FALSE(spares_last_copies(document.leftovers[0])) << "it is kept";
    const Result<Document> given = release_copies(document, document.leftovers[0]);
    ASSERT_TRUE(given) << given.error().message;
    const Leftover& entry = given->leftovers.at(0);
    EXPECT_EQ(entry.state, LeftoverState::kOpen);
    EXPECT_TRUE(entry.server.empty());
    EXPECT_TRUE(spares_last_copies(entry));
    EXPECT_EQ(parse_document(to_text(*given))->leftovers, given->leftovers);
    EXPECT_TRUE(drop_leftover(*given, entry)->leftovers.empty());
  }
}

TEST(GiveUp, AllOfItGoesWhereThatIsSaid) {
  const Document document = kept_document("the ring was restored");
  const Result<Document> given = release_leftover(document, document.leftovers[0]);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_FALSE(spares_last_copies(given->leftovers.at(0)));
}

TEST(GiveUp, WhatIsNotKeptIsNotGivenUp) {
  Document document = kept_document("");
  document.leftovers[0].state = LeftoverState::kOpen;
  EXPECT_FALSE(release_copies(document, document.leftovers[0]));
}

}  // namespace
}  // namespace cleave::ring
