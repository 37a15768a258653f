// Laws that hold for every edit of every document.
#include <gtest/gtest.h>

#include <array>

#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"
#include "ring/view/diff.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using testing::EditKind;
using testing::kEditKinds;
using testing::RandomEdits;

// Rules 20 and 22: one owner at every instant, and which one the phase says.
void expect_moves_have_their_owner(const Document& document) {
  const std::vector<Arc> arcs = owners(document);
  for (const Move& move : document.moves) {
    ASSERT_TRUE(owns_all(arcs, move.source, move.ranges)) << "move " << move.id.value();
  }
}

// An entry never names the owner of its ranges: what is cleaned is never what clients read.
void expect_leftovers_are_of_others(const Document& document) {
  for (const Arc& arc : owners(document)) {
    for (const Leftover& leftover : document.leftovers) {
      ASSERT_FALSE(leftover.node == arc.node && overlap(leftover.ranges, {arc.range}))
          << "leftover of move " << leftover.move.value();
    }
  }
}

// The move that is gone now and whose source has a leftover, as a commit and a taking back give it.
const Move* committed_move(const Document& before, const Document& after) {
  for (const Move& move : before.moves) {
    const Leftover* left = find_leftover(after, move.id);
    if (find_move(after, move.id) == nullptr && left != nullptr && left->node == move.source)
      return &move;
  }
  return nullptr;
}

// Only a commit changes owners, and exactly those of its ranges.
void expect_only_a_commit_changes_owners(const Document& before, const Document& after) {
  const std::vector<Change> changes = differences(owners(before), owners(after));
  const Move* move = committed_move(before, after);
  if (move == nullptr) {
    ASSERT_TRUE(changes.empty()) << to_string(changes.front().range);
    return;
  }
  std::vector<TokenRange> changed;
  for (const Change& change : changes) {
    ASSERT_EQ(change.from, move->source);
    ASSERT_EQ(change.to, move->destination);
    changed.push_back(change.range);
  }
  ASSERT_EQ(normalised(changed), move->ranges);
}

TEST(EditLaws, HoldForRandomSequences) {
  std::array<std::size_t, kEditKinds> done{};
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    Document document = edits.document();
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const EditKind kind = edits.kind(document);
      const auto next = edits.apply(kind, document);
      if (!next) continue;
      ++done[static_cast<std::size_t>(kind)];
      const auto valid = validate(*next);
      ASSERT_TRUE(valid) << valid.error().message;
      ASSERT_EQ(next->epoch.value(), document.epoch.value() + 1);
      expect_only_a_commit_changes_owners(document, *next);
      expect_moves_have_their_owner(*next);
      expect_leftovers_are_of_others(*next);
      if (HasFatalFailure()) return;
      document = *next;
    }
  }
  // No law was only held by edits that never succeeded.
  for (std::size_t kind = 0; kind < kEditKinds; ++kind) EXPECT_GE(done[kind], 100U) << kind;
}

TEST(EditLaws, SameArgumentsGiveTheSameDocument) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    RandomEdits one(seed);
    RandomEdits two(seed);
    ASSERT_EQ(edited_document(one, 8), edited_document(two, 8)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::ring
