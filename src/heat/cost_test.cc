#include "heat/cost.h"

#include <gtest/gtest.h>

namespace cleave::heat {
namespace {

// As redis-server 7.0 prints it.
constexpr std::string_view kInfo =
    "# Commandstats\r\n"
    "cmdstat_get:calls=100,usec=230,usec_per_call=2.30,rejected_calls=0,failed_calls=0\r\n"
    "cmdstat_SET:calls=10,usec=55,usec_per_call=5.50,rejected_calls=1,failed_calls=0\r\n"
    "cmdstat_client|list:calls=2,usec=40,usec_per_call=20.00\r\n";

const std::set<std::string, std::less<>> kWrites{"set", "del"};

TEST(Weight, AddsBytesToTheCommandAndSaturates) {
  EXPECT_EQ(weight_ns(8'000, 0), 8'000U);
  EXPECT_EQ(weight_ns(8'000, 1'000), 9'000U);
  EXPECT_EQ(weight_ns(8'000, 0xFFFFFFFFU), 0xFFFFFFFFU);
  EXPECT_EQ(weight_ns(8'000, ~std::uint64_t{0}), 0xFFFFFFFFU);
}

TEST(CommandStats, AreReadFromTheServersText) {
  const Result<CommandStats> stats = parse_commandstats(kInfo);
  ASSERT_TRUE(stats);
  const CommandStats want{{"client|list", {2, 40}}, {"get", {100, 230}}, {"set", {10, 55}}};
  EXPECT_EQ(*stats, want);
}

TEST(CommandStats, OfAnEmptyTextAreEmpty) {
  EXPECT_EQ(parse_commandstats(""), CommandStats{});
  EXPECT_EQ(parse_commandstats("# Commandstats\r\n"), CommandStats{});
}

TEST(CommandStats, NameTheLineThatIsWrong) {
  for (const std::string_view bad :
       {"cmdstat_get", "cmdstat_get:calls=1", "cmdstat_get:calls=x,usec=1",
        "cmdstat_get:calls=-1,usec=1", "cmdstat_get:calls=18446744073709551616,usec=1"}) {
    const Result<CommandStats> stats = parse_commandstats(bad);
    ASSERT_FALSE(stats) << bad;
    EXPECT_EQ(stats.error().code, Code::kInvalid);
    EXPECT_NE(stats.error().message.find(bad), std::string::npos) << stats.error().message;
  }
}

TEST(CommandStats, SinceCountsFromZeroAfterARestart) {
  const CommandStats before{{"get", {100, 230}}, {"set", {10, 50}}, {"del", {1, 1}}};
  const CommandStats after{{"get", {150, 330}}, {"set", {4, 12}}, {"del", {1, 1}}};
  const CommandStats want{{"get", {50, 100}}, {"set", {4, 12}}};
  EXPECT_EQ(since(before, after), want);
}

TEST(CommandStats, AddUp) {
  CommandStats sum{{"get", {1, 2}}};
  add(sum, {{"get", {10, 20}}, {"set", {3, 4}}});
  const CommandStats want{{"get", {11, 22}}, {"set", {3, 4}}};
  EXPECT_EQ(sum, want);
}

TEST(Prices, AreTheMeanOfEnoughCalls) {
  const CommandPrices result =
      prices({{"get", {1'000, 2'500}}, {"sort", {3, 900}}}, 100, kRequestNs);
  EXPECT_EQ(price_of(result, "get"), kRequestNs + 2'500);
  EXPECT_EQ(price_of(result, "sort"), kCommandNsDefault);
  EXPECT_EQ(price_of(result, "unknown"), kCommandNsDefault);
}

TEST(Prices, SaturateInsteadOfWrapping) {
  const CommandPrices result = prices({{"x", {1, ~std::uint64_t{0}}}}, 1, kRequestNs);
  EXPECT_EQ(price_of(result, "x"), 0xFFFFFFFFU);
}

TEST(Reconcile, SeesNothingStrangeWhenTheRoutersSentAll) {
  const Attribution seen = reconcile({{"get", {900, 0}}, {"set", {100, 0}}}, {}, kWrites,
                                     {.requests = 1'000, .writes = 100});
  EXPECT_EQ(seen.server_requests, 1'000U);
  EXPECT_EQ(seen.server_writes, 100U);
  EXPECT_EQ(seen.unattributed_requests, 0U);
  EXPECT_FALSE(seen.foreign_writes());
}

TEST(Reconcile, DoesNotCountWhatThisProgramDidItself) {
  const CommandStats interval{{"get", {100, 0}}, {"dump", {5'000, 0}}, {"restore", {5'000, 0}}};
  const CommandStats own{{"dump", {5'000, 0}}, {"restore", {5'000, 0}}};
  const Attribution seen = reconcile(interval, own, {"restore"}, {.requests = 100});
  EXPECT_EQ(seen.server_requests, 100U);
  EXPECT_FALSE(seen.foreign_writes());
}

TEST(Reconcile, AccusesAWriterThatBypassesTheRouters) {
  const Attribution seen = reconcile({{"get", {500, 0}}, {"set", {500, 0}}}, {}, kWrites,
                                     {.requests = 700, .writes = 200, .edge_requests = 100});
  EXPECT_EQ(seen.unattributed_requests, 200U);
  EXPECT_EQ(seen.unattributed_ppm, 200'000U);
  EXPECT_EQ(seen.unattributed_writes, 200U);
  EXPECT_TRUE(seen.foreign_writes());
}

TEST(Reconcile, ForgivesWhatTheEdgeOfTheIntervalCanExplain) {
  const Attribution seen = reconcile({{"set", {1'050, 0}}}, {}, kWrites,
                                     {.requests = 1'000, .writes = 1'000, .edge_requests = 50});
  EXPECT_EQ(seen.unattributed_writes, 0U);
  EXPECT_FALSE(seen.foreign_writes());
}

TEST(Reconcile, NeverGoesBelowZeroForFannedOutCommands) {
  const Attribution seen =
      reconcile({{"mget", {10, 0}}}, {}, kWrites, {.requests = 100, .writes = 0});
  EXPECT_EQ(seen.unattributed_requests, 0U);
  EXPECT_EQ(seen.unattributed_ppm, 0U);
}

}  // namespace
}  // namespace cleave::heat
