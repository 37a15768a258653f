#include "control/observe/attribution_book.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave::control {
namespace {

constexpr NodeId kLeft{1};
constexpr NodeId kRight{2};
const SessionId kRouter{"r1"};
const CommandKinds kKinds{.keyed = {"get", "set", "exists", "eval"},
                          .writes = {"set", "eval"},
                          .opaque = {"eval", "flushall"}};

// One router and its servers: 1,000 SETs and 1,000 GETs a second go to node a through the router.
class Attribution : public testing::Test {
 protected:
  Attribution() { book_.set_routers({kRouter}); }

  // What one interval is made of, beside the routed traffic.
  struct Interval {
    std::uint64_t foreign_sets = 0;
    std::uint64_t foreign_gets = 0;
    bool answered = true;
    bool skips_a_report = false;
    bool moved = false;
    bool unread = false;          // the server did not answer
    std::uint64_t scripts = 0;    // through the router
    std::uint64_t late_sets = 0;  // the server's side has them now, the router's with the next
    std::string run_id = "run";
    nanoseconds gap = milliseconds{5};
  };

  std::vector<NodeId> pass(const Interval& interval) {
    const std::uint64_t sets = 10'000;
    sets_ += sets + interval.foreign_sets + interval.late_sets + interval.scripts * 100;
    gets_ += 10'000 + interval.foreign_gets;
    scripts_ += interval.scripts;
    now_ += seconds{10};
    if (interval.moved) book_.moved(kLeft);
    answer(interval, sets + late_ + interval.scripts);
    late_ = interval.late_sets;
    const std::string stats = stat("set", sets_) + stat("get", gets_) + stat("eval", scripts_) +
                              stat("ping", 5'000'000 + gets_) + stat("info", gets_);
    if (!interval.unread)
      book_.close(kLeft, {.incarnation = {interval.run_id, "repl"},
                          .command_stats = stats,
                          .asked = now_,
                          .seen = now_ + interval.gap});
    return book_.judge(kKinds, now_ + seconds{1});
  }

  std::vector<NodeId> pass_twice(const Interval& interval) {
    pass(interval);
    return pass(interval);
  }

  bool foreign() const { return book_.foreign_writes(kLeft, now_ + seconds{1}); }

  AttributionBook book_;
  Instant now_{seconds{1'000}};

 private:
  void answer(const Interval& interval, std::uint64_t writes) {
    const std::uint64_t asked = book_.interval();
    book_.asked();
    book_.cut(now_);
    if (interval.skips_a_report) ++sequence_;
    heat::Report report{.recorder = 7, .sequence = ++sequence_};
    report.sums = {{.range = {},
                    .node = kLeft,
                    .requests = writes + 10'000,
                    .writes = writes,
                    .weight_ns = 0}};
    if (interval.answered) {
      book_.count(asked, kRouter, {report}, now_ + interval.gap);
    } else {
      book_.missing(asked);
    }
  }

  static std::string stat(const std::string& name, std::uint64_t calls) {
    if (calls == 0) return "";
    return "cmdstat_" + name + ":calls=" + std::to_string(calls) + ",usec=1\r\n";
  }

  std::uint64_t sets_ = 77;
  std::uint64_t gets_ = 99;
  std::uint64_t scripts_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t sequence_ = 0;
};

TEST_F(Attribution, AccusesNobodyOfRoutedTraffic) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(pass({}).empty());
  EXPECT_FALSE(foreign());
  EXPECT_EQ(book_.unattributed(kLeft).requests, 0U);
  EXPECT_EQ(book_.unattributed(kLeft).writes, 0U);
}

TEST_F(Attribution, SeesWritesPastTheRouters) {
  pass_twice({});
  EXPECT_TRUE(pass({.foreign_sets = 5'000}).empty()) << "once may be a burst";
  EXPECT_EQ(pass({.foreign_sets = 5'000}), std::vector{kLeft});
  EXPECT_TRUE(foreign());
  EXPECT_GT(book_.unattributed(kLeft).writes, 350U);
  EXPECT_LE(book_.unattributed(kLeft).writes, 500U);
  EXPECT_FALSE(book_.foreign_writes(kRight, now_));
  EXPECT_TRUE(pass({.foreign_sets = 5'000}).empty()) << "told once";
}

TEST_F(Attribution, ForgivesAfterThreeQuietIntervals) {
  pass_twice({});
  pass_twice({.foreign_sets = 5'000});
  const std::uint64_t writes = book_.unattributed(kLeft).writes;
  pass_twice({});
  EXPECT_TRUE(foreign());
  EXPECT_EQ(book_.unattributed(kLeft).writes, writes) << "nothing a second would be no reason";
  pass({});
  EXPECT_FALSE(foreign());
  EXPECT_EQ(book_.unattributed(kLeft).writes, 0U);
  pass({.foreign_sets = 5'000});
  EXPECT_EQ(pass({.foreign_sets = 5'000}), std::vector{kLeft}) << "and tells it again";
}

TEST_F(Attribution, ForgetsNobodyWhileNothingCanBeJudged) {
  for (const Interval& blind : {Interval{.moved = true}, Interval{.scripts = 10}}) {
    pass_twice({});
    pass_twice({.foreign_sets = 5'000});
    for (int i = 0; i < 300; ++i) pass(blind);
    EXPECT_TRUE(foreign()) << "50 minutes";
    for (int i = 0; i < 70; ++i) pass(blind);
    EXPECT_FALSE(foreign()) << "but not for ever";
  }
}

TEST_F(Attribution, ForgivesAMinuteAfterTheyWereSeenWhenAnIntervalIsWithout) {
  pass_twice({});
  pass_twice({.foreign_sets = 5'000});
  for (int i = 0; i < 20; ++i) pass({.moved = true});
  EXPECT_TRUE(foreign());
  pass({});
  EXPECT_FALSE(foreign());
}

// What is forgiven for the time between the two sides hides them, and proves nothing.
TEST_F(Attribution, DoubtIsNoQuietInterval) {
  pass_twice({});
  pass_twice({.foreign_sets = 5'000});
  for (int i = 0; i < 4; ++i) pass({.foreign_sets = 2'000, .gap = seconds{1}});
  EXPECT_TRUE(foreign());
  pass({.foreign_sets = 2'000, .gap = seconds{1}});
  EXPECT_FALSE(foreign()) << "a minute of doubts";
}

TEST_F(Attribution, ForeignReadsAreShownAndVetoNothing) {
  pass_twice({});
  EXPECT_TRUE(pass_twice({.foreign_gets = 50'000}).empty());
  EXPECT_GT(book_.unattributed(kLeft).requests, 4'000U);
  EXPECT_EQ(book_.unattributed(kLeft).writes, 0U);
}

TEST_F(Attribution, ABurstAtTheCutIsNoCrime) {
  pass_twice({});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(pass({.late_sets = 5'000}).empty());
    EXPECT_TRUE(pass({}).empty());
  }
  EXPECT_FALSE(foreign());
}

// Each of these can make a server count what no router told of.
TEST_F(Attribution, SaysNothingOfAnIntervalThatItCannotCompare) {
  for (const Interval& odd : {Interval{.foreign_sets = 5'000, .answered = false},
                              Interval{.foreign_sets = 5'000, .skips_a_report = true},
                              Interval{.foreign_sets = 5'000, .moved = true},
                              Interval{.foreign_sets = 5'000, .unread = true},
                              Interval{.foreign_sets = 5'000, .scripts = 10},
                              Interval{.foreign_sets = 5'000, .gap = seconds{3}}}) {
    pass({});
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(pass(odd).empty());
    EXPECT_FALSE(foreign());
  }
}

TEST_F(Attribution, AnotherServerBeginsAgain) {
  pass_twice({});
  pass({.foreign_sets = 5'000});
  EXPECT_TRUE(pass({.foreign_sets = 5'000, .run_id = "other"}).empty());
}

TEST_F(Attribution, OneOddIntervalBreaksTheRow) {
  pass_twice({});
  pass({.foreign_sets = 5'000});
  pass({.foreign_sets = 5'000, .moved = true});
  EXPECT_TRUE(pass({.foreign_sets = 5'000}).empty());
  EXPECT_EQ(pass({.foreign_sets = 5'000}), std::vector{kLeft});
}

TEST_F(Attribution, AChangeOfTheRoutersSpoilsTheInterval) {
  pass_twice({});
  for (int i = 0; i < 4; ++i) {
    book_.set_routers({kRouter, SessionId{"r" + std::to_string(i + 2)}});
    EXPECT_TRUE(pass({.foreign_sets = 5'000}).empty());
  }
}

// A router that answers after all had been given up: its counts are nowhere.
TEST_F(Attribution, ALateAnswerSpoilsTheNextIntervalToo) {
  pass_twice({});
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t asked = book_.interval();
    book_.asked();
    EXPECT_TRUE(pass({.foreign_sets = 5'000}).empty());
    book_.count(asked, kRouter, {}, now_ + seconds{2});
  }
}

TEST_F(Attribution, JudgesEachIntervalOnce) {
  pass_twice({});
  pass({.foreign_sets = 5'000});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(book_.judge(kKinds, now_ + seconds{2}).empty());
}

}  // namespace
}  // namespace cleave::control
