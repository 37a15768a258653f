#include "control/moves/refusal_book.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

constexpr auto kTo = backend::End::kDestination;
constexpr auto kFrom = backend::End::kSource;
constexpr Instant kStart{1'000'000'000};

TEST(RefusalBook, RestsLongerWithEachRefusalAndNotForEver) {
  RefusalBook book;
  Instant now = kStart;
  milliseconds last{0};
  for (int i = 0; i < 20; ++i) {
    const milliseconds rest = book.note({NodeId{1}, kTo, "OOM"}, now);
    EXPECT_TRUE(rest == last * 2 || rest == RefusalBook::kMost || i == 0);
    EXPECT_LE(rest, RefusalBook::kMost);
    last = rest;
    EXPECT_EQ(book.words(NodeId{1}, kTo, now + rest - milliseconds{1}), "OOM");
    now = now + rest;
    EXPECT_EQ(book.words(NodeId{1}, kTo, now), "");
  }
  EXPECT_EQ(last, RefusalBook::kMost);
}

// A full server takes nothing; giving is what helps it.
TEST(RefusalBook, EachEndRestsForItself) {
  RefusalBook book;
  book.note({NodeId{1}, kTo, "OOM"}, kStart);
  EXPECT_EQ(book.words(NodeId{1}, kFrom, kStart), "");
  EXPECT_EQ(book.words(NodeId{2}, kTo, kStart), "");
  EXPECT_EQ(book.words(NodeId{1}, kTo, kStart), "OOM");
}

TEST(RefusalBook, AMoveThatWentWellEndsTheRest) {
  RefusalBook book;
  book.note({NodeId{1}, kTo, "OOM"}, kStart);
  book.note({NodeId{1}, kTo, "OOM"}, kStart);
  book.forget(NodeId{1}, kTo);
  EXPECT_EQ(book.words(NodeId{1}, kTo, kStart), "");
  EXPECT_EQ(book.note({NodeId{1}, kTo, "OOM"}, kStart), RefusalBook::kFirst);
}

}  // namespace
}  // namespace cleave::control
