#include "migrate/cleaning.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::migrate {
namespace {

constexpr ring::TokenRange kMoved{Token{100}, Token{199}};

// What a move from node 1 to node 2 left behind, and the world around it.
class CleaningStory {
 public:
  CleaningStory() {
    ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
    for (const char* name : {"a", "b"}) {
      ring::Node node;
      node.name = name;
      node.members = {{"127.0.0.1:" + std::to_string(7001 + creation.nodes.size()), ""}};
      creation.nodes.push_back(node);
    }
    document_ = *ring::join(*ring::create(creation), {.session = SessionId{"r1"}});
    document_.cuts = {
        {.range = kMoved, .node = NodeId{2}, .reason = "t", .created = {}, .pinned_until = {}}};
    document_.leftovers = {committed()};
    seen_.node = {.incarnation = {"run-a", "repl-a"}, .primary = true, .marked = true};
    seen_.holder = {.incarnation = {"run-b", "repl-b"}, .primary = true, .marked = true};
  }

  static ring::Leftover committed() {
    return {.move = MoveId{1},
            .node = NodeId{1},
            .ranges = {kMoved},
            .since = {},
            .holder = NodeId{2},
            .incarnation = {"run-b", "repl-b"},
            .offset = 50};
  }
  static ring::Leftover aborted() {
    return {.move = MoveId{1}, .node = NodeId{1}, .ranges = {kMoved}, .since = {}};
  }

  CleaningActions write(Cleaning& cleaning, CleaningChange change) {
    Result<ring::Document> next = cleaning.edit(change, document_);
    if (!next) return cleaning.step(WriteRefused{next.error().message}, now_);
    document_ = *next;
    return cleaning.step(Written{shared()}, now_);
  }
  std::shared_ptr<const ring::Document> shared() const {
    return std::make_shared<const ring::Document>(document_);
  }

  // Up to what the first look says.
  CleaningActions to_look(Cleaning& cleaning) {
    cleaning.step(Start{}, now_);
    cleaning.step(Quiet{}, now_);
    cleaning.step(Swept{}, now_);
    return cleaning.step(seen_, now_);
  }

  ring::Document document_;
  LookedAt seen_;
  Instant now_{1};
};

template <class Wanted>
bool has(const CleaningActions& actions) {
  return std::ranges::any_of(
      actions, [](const CleaningAction& each) { return std::holds_alternative<Wanted>(each); });
}

bool writes(const CleaningActions& actions, CleaningChange change) {
  return std::ranges::any_of(actions, [&](const CleaningAction& action) {
    const auto* write = std::get_if<WriteEntry>(&action);
    return write != nullptr && write->change == change;
  });
}

TEST(Cleaning, GoesThroughItsRulesInOrder) {
  CleaningStory story;
  Cleaning cleaning(CleaningStory::committed());
  EXPECT_TRUE(has<AwaitQuiet>(cleaning.step(Start{}, story.now_)));
  EXPECT_TRUE(has<SweepNode>(cleaning.step(Quiet{}, story.now_)));
  EXPECT_TRUE(has<LookAt>(cleaning.step(Swept{}, story.now_)));
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kBegun));
  EXPECT_TRUE(has<LookAt>(story.write(cleaning, CleaningChange::kBegun)));
  EXPECT_TRUE(has<CleanPage>(cleaning.step(story.seen_, story.now_)));
  EXPECT_TRUE(has<LookAt>(cleaning.step(PageCleaned{.deleted = 2}, story.now_)));
  EXPECT_TRUE(has<CleanPage>(cleaning.step(story.seen_, story.now_)));
  EXPECT_TRUE(has<LookAt>(cleaning.step(PageCleaned{.deleted = 1, .last = true}, story.now_)));
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kDrop));
  EXPECT_TRUE(has<Over>(story.write(cleaning, CleaningChange::kDrop)));
  EXPECT_EQ(cleaning.progress().deleted, 3U);
  EXPECT_TRUE(story.document_.leftovers.empty());
}

TEST(Cleaning, WhatAnAbortLeftHasNothingToCompare) {
  CleaningStory story;
  story.document_.leftovers = {CleaningStory::aborted()};
  story.seen_.holder.reset();
  Cleaning cleaning(CleaningStory::aborted());
  EXPECT_TRUE(has<CleanPage>(story.to_look(cleaning)));
  EXPECT_TRUE(has<CleanPage>(cleaning.step(PageCleaned{}, story.now_)));
  cleaning.step(PageCleaned{.last = true}, story.now_);
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kDrop));
}

TEST(Cleaning, CountsWhatItSpares) {
  CleaningStory story;
  ring::Leftover entry = CleaningStory::aborted();
  entry.why = "it was kept";
  story.document_.leftovers = {entry};
  story.seen_.holder.reset();
  Cleaning cleaning(entry);
  story.to_look(cleaning);
  cleaning.step(PageCleaned{.deleted = 2, .spared = 1, .examples = {"k"}, .last = true},
                story.now_);
  EXPECT_EQ(cleaning.progress().spared, 1U);
  EXPECT_EQ(cleaning.progress().examples, std::vector<std::string>{"k"});
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kDrop));
}

// What keeps it is told through all its tries, until something goes well.
TEST(Cleaning, TellsWhatItIsStuckAt) {
  CleaningStory story;
  story.document_.leftovers = {CleaningStory::aborted()};
  story.seen_.holder.reset();
  Cleaning cleaning(CleaningStory::aborted());
  story.to_look(cleaning);
  EXPECT_EQ(cleaning.went_well(), story.now_);
  cleaning.step(Failed{"remove: NOPERM"}, story.now_);
  for (int i = 0; i < 3; ++i) {
    story.now_ += seconds{20};
    cleaning.step(Tick{}, story.now_);
    EXPECT_EQ(cleaning.stuck(), "remove: NOPERM");
    cleaning.step(Quiet{}, story.now_);
    EXPECT_TRUE(cleaning.waits_for().empty());
    EXPECT_EQ(cleaning.stuck(), "remove: NOPERM");
    EXPECT_EQ(cleaning.went_well(), Instant{1});
    cleaning.step(Swept{}, story.now_);
    cleaning.step(story.seen_, story.now_);
    if (i < 2) cleaning.step(Failed{"remove: NOPERM"}, story.now_);
  }
  cleaning.step(PageCleaned{.deleted = 1}, story.now_);
  EXPECT_TRUE(cleaning.stuck().empty());
  EXPECT_EQ(cleaning.went_well(), story.now_);
}

// Rule 23 e: without this look the value would be at no node.
TEST(Cleaning, KeepsEverythingWhenTheDestinationLostItsData) {
  CleaningStory story;
  story.seen_.holder->incarnation = {"run-b2", "repl-b2"};
  Cleaning cleaning(CleaningStory::committed());
  EXPECT_TRUE(writes(story.to_look(cleaning), CleaningChange::kKept));
  EXPECT_TRUE(has<Over>(story.write(cleaning, CleaningChange::kKept)));
  EXPECT_EQ(story.document_.leftovers.at(0).state, ring::LeftoverState::kKept);
}

TEST(Cleaning, StopsInTheMiddleWhenTheDestinationLosesItsData) {
  CleaningStory story;
  Cleaning cleaning(CleaningStory::committed());
  story.to_look(cleaning);
  story.write(cleaning, CleaningChange::kBegun);
  cleaning.step(PageCleaned{.deleted = 2}, story.now_);
  story.seen_.holder->incarnation = {"run-b2", "repl-b2"};
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kKept));
  story.write(cleaning, CleaningChange::kKept);
  EXPECT_EQ(story.document_.leftovers.at(0).state, ring::LeftoverState::kKeptBegun);
}

TEST(Cleaning, AReplicaThatHadAllOfItIsAsGood) {
  ServerFacts promoted{.incarnation = {"run-c", "repl-c"},
                       .primary = true,
                       .marked = true,
                       .former_replication_id = "repl-b",
                       .former_offset = 51};
  EXPECT_TRUE(has_everything(CleaningStory::committed(), promoted));
  promoted.former_offset = 50;
  EXPECT_FALSE(has_everything(CleaningStory::committed(), promoted))
      << "the last copy may be missing";
  promoted.former_offset = 51;
  promoted.former_replication_id = "another";
  EXPECT_FALSE(has_everything(CleaningStory::committed(), promoted));
  ring::Leftover alone = CleaningStory::committed();
  alone.offset = 0;
  promoted.former_replication_id = "repl-b";
  EXPECT_FALSE(has_everything(alone, promoted)) << "it had no replica then";
}

// Rule 23 f: a name or an address was given to another server, with another's keys.
TEST(Cleaning, TouchesNoServerButTheOneThatHasTheCopies) {
  for (ring::Leftover entry : {CleaningStory::committed(), CleaningStory::aborted()}) {
    entry.server = "server-a";
    for (const std::string found : {"server-b", ""}) {
      CleaningStory story;
      story.document_.leftovers = {entry};
      story.seen_.node.server = found;
      Cleaning cleaning(entry);
      EXPECT_TRUE(writes(story.to_look(cleaning), CleaningChange::kKept));
      EXPECT_TRUE(has<Over>(story.write(cleaning, CleaningChange::kKept)));
      EXPECT_EQ(story.document_.leftovers.at(0).state, ring::LeftoverState::kKept);
      EXPECT_NE(story.document_.leftovers.at(0).why.find("another server"), std::string::npos);
    }
  }
}

// It is exchanged while its keys are being deleted: compared beside every page, of aborts too.
TEST(Cleaning, StopsInTheMiddleWhenAnotherServerIsThere) {
  CleaningStory story;
  ring::Leftover entry = CleaningStory::aborted();
  entry.server = "server-a";
  story.document_.leftovers = {entry};
  story.seen_.node.server = "server-a";
  Cleaning cleaning(entry);
  EXPECT_TRUE(has<CleanPage>(story.to_look(cleaning)));
  EXPECT_TRUE(has<LookAt>(cleaning.step(PageCleaned{.deleted = 2}, story.now_)));
  EXPECT_TRUE(has<CleanPage>(cleaning.step(story.seen_, story.now_)));
  cleaning.step(PageCleaned{.last = true}, story.now_);
  story.seen_.node.server = "server-b";
  EXPECT_TRUE(writes(cleaning.step(story.seen_, story.now_), CleaningChange::kKept));
}

TEST(Cleaning, TouchesNoServerThatIsNotOurs) {
  CleaningStory story;
  story.seen_.node.marked = false;
  Cleaning cleaning(CleaningStory::committed());
  EXPECT_TRUE(story.to_look(cleaning).empty());
  EXPECT_EQ(cleaning.at(), CleaningStep::kWaiting);
  EXPECT_NE(cleaning.waits_for().find("marker"), std::string::npos);
}

TEST(Cleaning, BeginsAgainFromTheStartAfterAFailure) {
  CleaningStory story;
  Cleaning cleaning(CleaningStory::committed());
  story.to_look(cleaning);
  story.write(cleaning, CleaningChange::kBegun);
  EXPECT_TRUE(cleaning.step(Failed{"connection lost"}, story.now_).empty());
  EXPECT_TRUE(cleaning.step(PageCleaned{.last = true}, story.now_).empty()) << "of before";
  EXPECT_TRUE(cleaning.step(Tick{}, story.now_).empty()) << "not at once";
  EXPECT_TRUE(has<AwaitQuiet>(cleaning.step(Tick{}, story.now_ + seconds{1})));
  EXPECT_TRUE(has<SweepNode>(cleaning.step(Quiet{}, story.now_)));
  cleaning.step(Swept{}, story.now_);
  EXPECT_TRUE(has<CleanPage>(cleaning.step(story.seen_, story.now_))) << "it has begun already";
}

// The listing of another life of the server says nothing about this one.
TEST(Cleaning, BeginsAgainWhenTheServerRestartedMeanwhile) {
  CleaningStory story;
  Cleaning cleaning(CleaningStory::committed());
  story.to_look(cleaning);
  story.write(cleaning, CleaningChange::kBegun);
  cleaning.step(PageCleaned{.last = true}, story.now_);
  story.seen_.node.incarnation = {"run-a2", "repl-a2"};
  EXPECT_TRUE(cleaning.step(story.seen_, story.now_).empty());
  EXPECT_EQ(cleaning.at(), CleaningStep::kWaiting);
}

TEST(Cleaning, AnEntryThatAnotherTookOffIsOver) {
  CleaningStory story;
  Cleaning cleaning(CleaningStory::committed());
  story.to_look(cleaning);
  story.document_.leftovers.clear();
  EXPECT_TRUE(has<Over>(cleaning.step(DocumentSeen{story.shared()}, story.now_)));
}

// Any events in any order: the document stays valid, and an entry that was never judged whole is
// never dropped.
TEST(Cleaning, SurvivesEventsInAnyOrder) {
  std::size_t dropped = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    CleaningStory story;
    Cleaning cleaning(CleaningStory::committed());
    Rng rng(seed);
    CleaningActions open = cleaning.step(Start{}, story.now_);
    for (int i = 0; i < 120; ++i) {
      story.now_ += milliseconds{static_cast<std::int64_t>(rng.below(400))};
      switch (rng.below(8)) {
        case 0: open = cleaning.step(Quiet{}, story.now_); break;
        case 1: open = cleaning.step(Swept{}, story.now_); break;
        case 2: open = cleaning.step(story.seen_, story.now_); break;
        case 3: open = cleaning.step(PageCleaned{.last = rng.chance(1, 2)}, story.now_); break;
        case 4: open = cleaning.step(Tick{}, story.now_); break;
        case 5:
          if (rng.chance(1, 20)) open = cleaning.step(Failed{"test"}, story.now_);
          break;
        case 6:
          if (rng.chance(1, 40)) story.seen_.holder->incarnation.run_id = "another";
          break;
        default:
          for (const CleaningAction& action : CleaningActions(open)) {
            const auto* write = std::get_if<WriteEntry>(&action);
            if (write != nullptr) open = story.write(cleaning, write->change);
          }
      }
      ASSERT_TRUE(ring::validate(story.document_).has_value());
    }
    dropped += story.document_.leftovers.empty() ? 1U : 0U;
  }
  EXPECT_GT(dropped, 50U);
}

}  // namespace
}  // namespace cleave::migrate
