#include "control/observe/cost_book.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave::control {
namespace {

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

std::string stat(const std::string& name, std::uint64_t calls, std::uint64_t usec) {
  return "cmdstat_" + name + ":calls=" + std::to_string(calls) + ",usec=" + std::to_string(usec) +
         ",usec_per_call=0.00\r\n";
}

TEST(CostBook, KnowsNothingBeforeAnIntervalIsOver) {
  CostBook book;
  book.note(kOne, stat("get", 1'000'000, 50'000'000), 0);
  book.settle();
  EXPECT_TRUE(book.prices().empty());
}

TEST(CostBook, PricesWhatHappenedSince) {
  CostBook book;
  book.note(kOne, stat("get", 1'000'000, 50'000'000), 0);
  book.settle();
  book.note(kOne, stat("get", 1'000'100, 50'000'300), 0);
  book.settle();
  EXPECT_EQ(book.prices(), (heat::CommandPrices{{"get", heat::kRequestNs + 3'000}}));
}

TEST(CostBook, PricesTheNodesOfAPoolTogether) {
  CostBook book;
  for (const NodeId node : {kOne, kTwo}) book.note(node, stat("get", 0, 0), 0);
  book.settle();
  book.note(kOne, stat("get", 10, 10), 0);
  book.note(kTwo, stat("get", 30, 150), 0);  // neither alone has enough for luck to even out
  book.settle();
  EXPECT_EQ(book.prices().at("get"), heat::kRequestNs + 4'000);
}

// 10,000 requests in 100 pipelines: the thread was busy for 12 ms, 5 of them in the commands.
TEST(CostBook, OfAPipelineEachRequestCostsLessOutsideOfItsCommand) {
  CostBook book;
  book.note(kOne, stat("get", 0, 0), 1'000);
  book.settle();
  book.note(kOne, stat("get", 10'000, 5'000), 13'000);
  book.settle();
  EXPECT_EQ(book.prices().at("get"), 500U + 700U);
  // Few requests say nothing: what the server did besides would be put on them.
  CostBook idle;
  idle.note(kOne, stat("get", 0, 0), 1'000);
  idle.settle();
  idle.note(kOne, stat("get", 100, 50), 5'000);
  idle.settle();
  EXPECT_EQ(idle.prices().at("get"), 500U + heat::kRequestNs);
}

TEST(CostBook, CountsFromZeroAfterARestart) {
  CostBook book;
  book.note(kOne, stat("get", 1'000, 9'000), 0);
  book.settle();
  book.note(kOne, stat("get", 100, 200), 0);
  book.settle();
  EXPECT_EQ(book.prices().at("get"), heat::kRequestNs + 2'000);
}

TEST(CostBook, FollowsTheServersButNotAtOnce) {
  CostBook book;
  book.note(kOne, stat("get", 0, 0), 0);
  book.settle();
  std::uint64_t calls = 0;
  std::uint64_t usec = 0;
  const auto interval = [&](std::uint64_t usec_per_call) {
    calls += 1'000;
    usec += 1'000 * usec_per_call;
    book.note(kOne, stat("get", calls, usec), 0);
    book.settle();
    return book.prices().at("get") - heat::kRequestNs;
  };
  EXPECT_EQ(interval(1), 1'000U);
  const std::uint32_t first = interval(10);
  EXPECT_GT(first, 5'000U);
  EXPECT_LT(first, 9'000U);
  for (int i = 0; i < 6; ++i) interval(10);
  EXPECT_GT(interval(10), 9'800U);
}

TEST(CostBook, KeepsThePriceOfASeldomCommand) {
  CostBook book;
  book.note(kOne, stat("sort", 0, 0), 0);
  book.settle();
  book.note(kOne, stat("sort", 40, 40'000), 0);
  book.settle();
  const heat::CommandPrices known = book.prices();
  for (int i = 0; i < 20; ++i) book.settle();
  EXPECT_EQ(book.prices(), known);
  EXPECT_EQ(known.at("sort"), heat::kRequestNs + 1'000'000);
}

TEST(CostBook, PassesOverWhatItCannotRead) {
  CostBook book;
  book.note(kOne, stat("get", 0, 0), 0);
  book.settle();
  book.note(kOne, "cmdstat_get:calls=x", 0);
  book.note(kOne, "", 0);
  book.settle();
  EXPECT_TRUE(book.prices().empty());
  book.note(kOne, stat("get", 100, 100), 0);
  book.settle();
  EXPECT_EQ(book.prices().size(), 1U);
}

TEST(CostBook, AForgottenNodeBeginsAgain) {
  CostBook book;
  book.note(kOne, stat("get", 0, 0), 0);
  book.forget(kOne);
  book.note(kOne, stat("get", 1'000, 1'000), 0);
  book.settle();
  EXPECT_TRUE(book.prices().empty());
}

}  // namespace
}  // namespace cleave::control
