#include "ring/document/shares.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using testing::edited_document;
using testing::make_nodes;
using testing::RandomEdits;
using testing::view_of;

TEST(Shares, FollowTheWeights) {
  const std::vector<Node> nodes = make_nodes({1, 3});
  const std::vector<Arc> arcs = {{{kFirstToken, kLastToken}, NodeId{2}}};
  const std::vector<Share> shares = shares_of(nodes, arcs);
  EXPECT_EQ(shares[0].wanted, kAllTokens / 4);
  EXPECT_EQ(shares[0].deficit(), kAllTokens / 4);
  EXPECT_EQ(shares[0].excess(), 0U);
  EXPECT_EQ(shares[1].owned, kAllTokens);
  EXPECT_EQ(shares[1].excess(), kAllTokens / 4);
}

TEST(Shares, EvenIsRelativeToWhatIsWanted) {
  const Share share{.node = NodeId{1}, .wanted = 1'000, .owned = 1'015};
  EXPECT_TRUE(share.even(15));
  EXPECT_FALSE(share.even(14));
  const Share draining{.node = NodeId{1}, .wanted = 0, .owned = 1};
  EXPECT_FALSE(draining.even(999));
}

TEST(Shares, SumToTheWholeRing) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto view = view_of(edited_document(edits, 8));
    Wide wanted = 0;
    Wide owned = 0;
    for (const Share& share : shares_of(view->document().nodes, owners(view->entries()))) {
      ASSERT_EQ(ppm_of_all(share.owned), share_ppm(view->owned_by(share.node)));
      ASSERT_EQ(share.wanted == 0,
                find_node(view->document(), share.node)->state == NodeState::kDraining);
      wanted += share.wanted;
      owned += share.owned;
    }
    ASSERT_EQ(wanted, kAllTokens);
    ASSERT_EQ(owned, kAllTokens);
  }
}

}  // namespace
}  // namespace cleave::ring
