#include "sim/world/document_checker.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "sim/world/document_testing.h"

namespace cleave::sim {
namespace {

// Shows the documents one after the other; returns what was complained about.
std::vector<std::string> shown(const std::vector<ring::Document>& documents) {
  DocumentChecker checker;
  for (const ring::Document& document : documents)
    checker.see({document.epoch, ring::to_text(document)}, milliseconds{1});
  return checker.violations();
}

TEST(DocumentChecker, AllowsAWholeMove) {
  const ring::Document first = two_nodes(ring::Mode::kObserve);
  const ring::Document copying = *ring::begin_move(first, some_move(first));
  const MoveId id = copying.moves.front().id;
  const ring::Document entered = *ring::enter_copies(copying, id, copying.epoch, UnixMillis{1});
  const ring::Document fenced = *ring::fence_move(entered, id, copying.epoch);
  const ring::Holder holder{.incarnation = {.run_id = "r", .replication_id = "p"}};
  const ring::Document done = *ring::commit_move(fenced, id, fenced.epoch, holder, UnixMillis{1});
  EXPECT_TRUE(shown({first, copying, entered, fenced, done}).empty());
  const ring::Document aborted = *ring::abort_move(fenced, id, fenced.epoch);
  EXPECT_TRUE(shown({first, copying, entered, fenced, aborted}).empty());
  ring::Document unentered = done;
  unentered.leftovers.clear();
  EXPECT_FALSE(shown({first, copying, entered, fenced, unentered}).empty())
      << "the source must be in the leftovers";
}

TEST(DocumentChecker, RefusesSkippedPhasesAndEpochs) {
  const ring::Document first = two_nodes(ring::Mode::kObserve);
  const ring::Document copying = *ring::begin_move(first, some_move(first));
  const MoveId id = copying.moves.front().id;
  const ring::Document fenced = *ring::fence_move(copying, id, copying.epoch);
  EXPECT_FALSE(shown({first, fenced}).empty()) << "an epoch is missing";
  ring::Document begun_fenced = fenced;
  begun_fenced.epoch = copying.epoch;
  begun_fenced.moves.front().phase_epoch = copying.epoch;
  EXPECT_FALSE(shown({first, begun_fenced}).empty()) << "begins fenced";
  ring::Document committed_unfenced = copying;
  committed_unfenced.epoch = Epoch{copying.epoch.value() + 1};
  committed_unfenced.moves.front().phase = ring::Phase::kClean;
  committed_unfenced.moves.front().phase_epoch = committed_unfenced.epoch;
  EXPECT_FALSE(shown({first, copying, committed_unfenced}).empty()) << "COPYING -> CLEAN";
}

TEST(DocumentChecker, RefusesAnOwnerChangedWithoutACommit) {
  const ring::Document first = two_nodes(ring::Mode::kObserve);
  ring::Document stolen = first;
  stolen.epoch = Epoch{first.epoch.value() + 1};
  const ring::MoveRequest move = some_move(first);
  stolen.cuts = {{.range = move.ranges.front(),
                  .node = move.destination,
                  .reason = "stolen",
                  .created = UnixMillis{1},
                  .pinned_until = UnixMillis{0}}};
  EXPECT_FALSE(shown({first, stolen}).empty());
}

TEST(DocumentChecker, RefusesATermThatGoesBack) {
  const ring::Document joined =
      *ring::join(two_nodes(ring::Mode::kObserve), {.session = SessionId{"a"}});
  const ring::Document led = *ring::lead(joined, SessionId{"a"});
  ring::Document back = led;
  back.epoch = Epoch{led.epoch.value() + 1};
  back.leader.term = Term{0};
  EXPECT_FALSE(shown({joined, led, back}).empty());
}

}  // namespace
}  // namespace cleave::sim
