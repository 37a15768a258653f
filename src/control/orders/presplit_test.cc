#include "control/orders/presplit.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

ring::TokenRange token(std::uint64_t at) { return {Token{at}, Token{at}}; }

Announcement sale(std::vector<Demand> demands) {
  return {.name = "sale",
          .lead_from = UnixMillis{10},
          .start = UnixMillis{20},
          .end = UnixMillis{30},
          .demands = std::move(demands)};
}

TEST(Presplit, RequestsBecomeLoadByTheMeanOfThePool) {
  EXPECT_EQ(load_of({.requests = 1'000}, {.mean_ns = 12'000}), 12'000'000U);
}

TEST(Presplit, ACommandAndABytesCountHaveTheirPrice) {
  const RequestCosts costs{.commands = {{"get", 9'000}, {"hgetall", 50'000}}, .mean_ns = 1};
  EXPECT_EQ(load_of({.requests = 10, .command = "hgetall"}, costs), 500'000U);
  EXPECT_EQ(load_of({.requests = 10, .bytes = 1'000}, costs), 100'000U);  // a GET
  EXPECT_EQ(load_of({.requests = 10, .command = "unheard"}, costs),
            10ULL * heat::kCommandNsDefault);
}

TEST(Presplit, AGivenLoadIsTakenAsItIs) {
  EXPECT_EQ(load_of({.requests = 5, .load = 777}, {}), 777U);
}

TEST(Presplit, AbsurdRatesSaturate) {
  EXPECT_EQ(load_of({.requests = ~0ULL, .command = "get"}, {}), ring::kNumberMax);
  const ring::ExpectedEvent event =
      event_of(sale({{.ranges = {token(1), token(1)}, .load = ~0ULL}}), {});
  EXPECT_EQ(event.loads[0].load, ring::kNumberMax);
}

TEST(Presplit, TheMeanNeedsRequests) {
  heat::Picture picture;
  EXPECT_EQ(mean_request_ns(picture), heat::kCommandNsDefault);
  picture.ranges = {{.load = {.mean = 500'000}}};
  picture.nodes = {{.node = NodeId{1}, .load = {.mean = 500'000}, .requests = 100}};
  EXPECT_EQ(mean_request_ns(picture), 5'000U);
}

TEST(Presplit, LoadsOfOneTokenAreAddedUp) {
  const ring::ExpectedEvent event = event_of(
      sale({{.ranges = {token(9), token(3)}, .load = 10}, {.ranges = {token(9)}, .load = 5}}), {});
  EXPECT_EQ(event.loads, (std::vector<ring::ExpectedLoad>{{token(3), 10}, {token(9), 15}}));
}

TEST(Presplit, ThePlannerIsToldEachLoadOfTheDocument) {
  const ring::Document document = *ring::expect(
      ring::testing::make_document({1, 1}),
      {event_of(sale({{.ranges = {token(3), token(9)}, .load = 10}}), {})}, UnixMillis{1});
  const std::vector<balance::Expected> expected = expected_of(document);
  ASSERT_EQ(expected.size(), 2U);
  EXPECT_EQ(expected[1], (balance::Expected{.range = token(9),
                                            .load = 10,
                                            .lead_from = UnixMillis{10},
                                            .start = UnixMillis{20},
                                            .end = UnixMillis{30},
                                            .event = "sale"}));
}

TEST(Presplit, TheBusiestTimeCountsWhatIsOnTogether) {
  const auto from_to = [](std::int64_t start, std::int64_t end, std::uint64_t load) {
    return balance::Expected{.load = load, .start = UnixMillis{start}, .end = UnixMillis{end}};
  };
  const UnixMillis now{5};
  EXPECT_EQ(busiest({}, now), now);
  EXPECT_EQ(busiest({from_to(10, 30, 4), from_to(20, 40, 4), from_to(30, 50, 3)}, now),
            UnixMillis{20});
  // What ends when another starts is not there with it.
  EXPECT_EQ(busiest({from_to(10, 20, 4), from_to(20, 30, 3)}, now), UnixMillis{10});
  EXPECT_EQ(busiest({from_to(1, 20, 4)}, now), now);
}

TEST(Presplit, AFullPoolIsAConflictThatCountsTheMissingNodes) {
  Presplit presplit;
  EXPECT_TRUE(check_room(presplit));
  presplit.plan.advice_nodes = 3;
  presplit.plan.advice = "add 3 nodes";
  const Result<void> room = check_room(presplit);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code, Code::kConflict);
  EXPECT_NE(room.error().message.find("add 3 nodes"), std::string::npos);
}

TEST(Presplit, AnEventGoesThroughItsStates) {
  const ring::ExpectedEvent event = event_of(sale({}), {});
  EXPECT_EQ(to_string(state_of(event, UnixMillis{9})), "waiting");
  EXPECT_EQ(to_string(state_of(event, UnixMillis{10})), "preparing");
  EXPECT_EQ(to_string(state_of(event, UnixMillis{20})), "on");
  EXPECT_EQ(to_string(state_of(event, UnixMillis{30})), "over");
}

}  // namespace
}  // namespace cleave::control
