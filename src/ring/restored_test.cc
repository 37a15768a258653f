#include "ring/restored.h"

#include <gtest/gtest.h>

#include "ring/edits_fixture.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

class Restored : public Edits {
 protected:
  static RestoredDocument restore(const Document& saved, Restoration how) {
    const Result<RestoredDocument> made = restored(saved, how);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(RestoredDocument{});
  }
};

TEST_F(Restored, KeepsTheOwnersAndForgetsWhoRouted) {
  const Document saved = must(lead(committed(fenced(copying())), SessionId{"r1"}));
  const Document document = restore(saved, {.pool = "shop", .above = Epoch{5'000}}).document;
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
  EXPECT_EQ(restore(saved, {.pool = "p", .above = Epoch{1}}).document.epoch.value(),
            saved.epoch.value() + 1);
}

// Which side has copies that nobody owns. They are told, and not acted on: since the document was
// saved the range may have moved there for good.
TEST_F(Restored, TellsWhereCopiesOfMovesMayLie) {
  const Document moving = copying();
  for (const Document& saved : {moving, fenced(moving)}) {
    const RestoredDocument made = restore(saved, {.pool = "p", .above = {}});
    EXPECT_EQ(made.copies, (std::vector<Copies>{{.node = NodeId{2}, .ranges = {range_}}}));
    EXPECT_TRUE(made.document.moves.empty());
    EXPECT_EQ(view_of(made.document)->owner(range_.first), NodeId{1});
  }
}

}  // namespace
}  // namespace cleave::ring
