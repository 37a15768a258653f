#include "sim/linearizability.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace cleave::sim {
namespace {

Instant at(int time) { return microseconds{time}; }

Op set(std::int64_t value, int called, int returned) {
  return {.kind = OpKind::kSet, .argument = value, .called = at(called), .returned = at(returned)};
}
Op read(std::int64_t value, int called, int returned) {
  return {.kind = OpKind::kRead, .result = value, .called = at(called), .returned = at(returned)};
}
Op remove(std::int64_t found, int called, int returned) {
  return {.kind = OpKind::kDelete, .result = found, .called = at(called), .returned = at(returned)};
}
Op increment(std::int64_t to, int called, int returned) {
  return {.kind = OpKind::kIncrement, .result = to, .called = at(called), .returned = at(returned)};
}
Op perhaps(Op op) {
  op.happened = false;
  op.returned = kForever;
  op.result.reset();
  return op;
}

struct Case {
  const char* name;
  std::vector<Op> history;
  bool good;
};

TEST(Linearizability, HandMadeHistories) {
  const Case cases[] = {
      {"empty", {}, true},
      {"read of nothing", {read(kAbsent, 0, 1)}, true},
      {"read of a value nobody wrote", {read(7, 0, 1)}, false},
      {"sequential", {set(1, 0, 1), read(1, 2, 3), set(2, 4, 5), read(2, 6, 7)}, true},
      {"stale read", {set(1, 0, 1), set(2, 2, 3), read(1, 4, 5)}, false},
      {"lost write", {set(1, 0, 1), read(kAbsent, 2, 3)}, false},
      {"concurrent write and read, new", {set(1, 0, 10), read(1, 1, 2)}, true},
      {"concurrent write and read, old", {set(1, 0, 10), read(kAbsent, 1, 2)}, true},
      {"new then old", {set(1, 0, 10), read(1, 1, 2), read(kAbsent, 3, 4)}, false},
      {"concurrent writes in either order", {set(1, 0, 10), set(2, 0, 10), read(1, 11, 12)}, true},
      {"both orders seen", {set(1, 0, 10), set(2, 0, 10), read(1, 11, 12), read(2, 13, 14)}, false},
      {"resurrection", {set(1, 0, 1), remove(1, 2, 3), read(1, 4, 5)}, false},
      {"delete found nothing though it was there", {set(1, 0, 1), remove(0, 2, 3)}, false},
      {"delete of nothing", {remove(0, 0, 1), set(1, 2, 3), remove(1, 4, 5)}, true},
      {"unknown write seen", {perhaps(set(1, 0, 1)), read(1, 2, 3)}, true},
      {"unknown write not seen", {perhaps(set(1, 0, 1)), read(kAbsent, 2, 3)}, true},
      {"unknown write seen late",
       {perhaps(set(1, 0, 1)), read(kAbsent, 2, 3), read(1, 4, 5)},
       true},
      {"unknown write seen before its call", {read(1, 0, 1), perhaps(set(1, 2, 3))}, false},
      {"unknown write undone by itself",
       {perhaps(set(1, 0, 1)), read(1, 2, 3), read(kAbsent, 4, 5)},
       false},
      {"unknown write overwritten, then seen again",
       {perhaps(set(1, 0, 1)), read(1, 2, 3), set(2, 4, 5), read(2, 6, 7), read(1, 8, 9)},
       false},
      {"counter", {increment(1, 0, 1), increment(2, 2, 3), read(2, 4, 5)}, true},
      {"counter lost one", {increment(1, 0, 1), increment(1, 2, 3)}, false},
      {"counter counted twice", {increment(1, 0, 1), increment(3, 2, 3)}, false},
      {"counter with an unknown one",
       {increment(1, 0, 1), perhaps(increment(0, 1, 2)), increment(3, 3, 4)},
       true},
      {"concurrent increments in any order", {increment(2, 0, 10), increment(1, 0, 10)}, true},
      {"expired in time",
       {set(1, 0, 1),
        {.kind = OpKind::kExpire, .argument = 1, .called = at(90), .returned = at(110)},
        read(1, 50, 60),
        read(kAbsent, 120, 130)},
       true},
      {"outlived its time",
       {set(1, 0, 1),
        {.kind = OpKind::kExpire, .argument = 1, .called = at(90), .returned = at(110)},
        read(1, 120, 130)},
       false},
      {"expired too early",
       {set(1, 0, 1),
        {.kind = OpKind::kExpire, .argument = 1, .called = at(90), .returned = at(110)},
        read(kAbsent, 50, 60)},
       false},
      {"expiry of an overwritten value",
       {set(1, 0, 1),
        set(2, 2, 3),
        {.kind = OpKind::kExpire, .argument = 1, .called = at(90), .returned = at(110)},
        read(2, 120, 130)},
       true},
  };
  for (const Case& one : cases) {
    const Ruling ruling = check_linearizable(one.history);
    EXPECT_EQ(ruling.linearizable, one.good) << one.name << ": " << ruling.explanation;
    EXPECT_FALSE(ruling.gave_up) << one.name;
    EXPECT_EQ(ruling.explanation.empty(), one.good) << one.name;
  }
}

// Seed 3917 gave up on a key with twenty pending expiries of values that were long overwritten.
TEST(Linearizability, PendingExpiriesOfOverwrittenValuesCostNothing) {
  std::vector<Op> history;
  for (int i = 0; i < 40; ++i) {
    history.push_back(set(i + 1, 10 * i, 10 * i + 5));
    history.push_back({.kind = OpKind::kExpire,
                       .argument = i + 1,
                       .called = at(10 * i),
                       .returned = at(10'000 + i)});
  }
  history.push_back(set(100, 0, 500));  // may be anywhere among them
  history.push_back(read(40, 401, 402));
  EXPECT_TRUE(check_linearizable(history).linearizable);
  history.push_back(read(7, 403, 404));
  const Ruling ruling = check_linearizable(history);
  EXPECT_FALSE(ruling.linearizable);
  EXPECT_FALSE(ruling.gave_up);
}

// A history made by running operations one at a time at a random moment between call and return.
struct Made {
  std::vector<Op> history;
  std::vector<std::size_t> reads;  // whose result can be falsified
};

Made make_history(Rng& rng) {
  struct Planned {
    Op op;
    int runs_at;
  };
  std::vector<Planned> planned;
  for (int i = 0; i < 60; ++i) {
    const int called = static_cast<int>(rng.below(600)) * 10;
    const int runs_at = called + 1 + static_cast<int>(rng.below(25)) * 10;
    Op op{.called = at(called), .returned = at(runs_at + static_cast<int>(rng.below(25)) * 10)};
    const auto kind = rng.below(10);
    op.kind = kind < 4 ? OpKind::kSet : kind < 8 ? OpKind::kRead : OpKind::kDelete;
    if (op.kind == OpKind::kSet) op.argument = i + 1;
    planned.push_back({op, runs_at});
    if (op.kind != OpKind::kSet || !rng.chance(1, 2)) continue;
    const int ends_at = runs_at + static_cast<int>(rng.below(40)) * 10;
    Op expiry{.kind = OpKind::kExpire, .argument = op.argument, .called = at(called)};
    expiry.returned = at(ends_at + static_cast<int>(rng.below(40)) * 10);
    planned.push_back({expiry, ends_at});
  }
  std::stable_sort(planned.begin(), planned.end(), [](const Planned& left, const Planned& right) {
    return left.runs_at < right.runs_at;
  });
  Made made;
  std::int64_t value = kAbsent;
  for (Planned& one : planned) {
    if (one.op.kind == OpKind::kRead) {
      one.op.result = value;
      made.reads.push_back(made.history.size());
    } else if (one.op.kind == OpKind::kDelete) {
      one.op.result = value == kAbsent ? 0 : 1;
      value = kAbsent;
    } else if (one.op.kind == OpKind::kExpire) {
      if (value == one.op.argument) value = kAbsent;
    } else {
      value = one.op.argument;
    }
    made.history.push_back(rng.chance(1, 8) && one.op.kind == OpKind::kSet ? perhaps(one.op)
                                                                           : one.op);
  }
  return made;
}

TEST(Linearizability, AcceptsEveryRealHistory) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    const Ruling ruling = check_linearizable(make_history(rng).history);
    ASSERT_TRUE(ruling.linearizable) << "seed " << seed << ": " << ruling.explanation;
  }
}

TEST(Linearizability, RefusesAValueThatNobodyWrote) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    Made made = make_history(rng);
    if (made.reads.empty()) continue;
    made.history[made.reads[rng.below(made.reads.size())]].result = 999;
    ASSERT_FALSE(check_linearizable(made.history).linearizable) << "seed " << seed;
  }
}

// Lost writes pile up behind an outage; nobody reads them, so they cost nothing.
TEST(Linearizability, UncertainWritesThatNobodySawAreNoSearch) {
  std::vector<Op> history;
  for (int i = 0; i < 200; ++i)
    history.push_back({.kind = OpKind::kSet,
                       .argument = 5'000 + i,
                       .called = microseconds{i},
                       .happened = false});
  for (int i = 0; i < 100; ++i) {
    const Instant at = milliseconds{10 + i};
    history.push_back(
        {.kind = OpKind::kSet, .argument = i, .called = at, .returned = at + microseconds{900}});
    history.push_back({.kind = OpKind::kDelete,
                       .result = 1,
                       .called = at + microseconds{100},
                       .returned = at + microseconds{900}});
    history.push_back({.kind = OpKind::kRead,
                       .result = kAbsent,
                       .called = at + microseconds{950},
                       .returned = at + microseconds{960}});
  }
  EXPECT_TRUE(check_linearizable(history, kAbsent, 50'000).linearizable);
}

TEST(Linearizability, GivesUpInsteadOfRunningForEver) {
  Rng rng(3);
  const Ruling ruling = check_linearizable(make_history(rng).history, kAbsent, 10);
  EXPECT_FALSE(ruling.linearizable);
  EXPECT_TRUE(ruling.gave_up);
}

}  // namespace
}  // namespace cleave::sim
