// What is expected, by example. Laws for all edits: edits_property_test.cc.
#include <gtest/gtest.h>

#include <functional>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

constexpr UnixMillis kNow{5'000};

ExpectedLoad load_at(std::uint64_t token, std::uint64_t load = 1'000) {
  return {.range = {Token{token}, Token{token}}, .load = load};
}

ExpectedEvent event(std::string name, std::vector<ExpectedLoad> loads = {load_at(7)}) {
  return {.name = std::move(name),
          .lead_from = UnixMillis{4'000},
          .start = UnixMillis{6'000},
          .end = UnixMillis{9'000},
          .loads = std::move(loads)};
}

std::vector<ExpectedLoad> many_loads(std::size_t count, std::uint64_t first) {
  std::vector<ExpectedLoad> loads;
  for (std::size_t at = 0; at < count; ++at) loads.push_back(load_at(first + at));
  return loads;
}

TEST_F(Edits, EventsAreKeptSortedWithTheirLoads) {
  const Document next =
      must(expect(document_, {event("sale", {load_at(9), load_at(3)}), event("launch")}, kNow));
  ASSERT_EQ(next.expected.size(), 2U);
  EXPECT_EQ(next.expected[0].name, "launch");
  EXPECT_EQ(next.expected[1].loads, (std::vector{load_at(3), load_at(9)}));
  EXPECT_EQ(find_event(next, "sale"), &next.expected[1]);
}

TEST_F(Edits, AnEventTakesThePlaceOfOneOfItsName) {
  const Document first = must(expect(document_, {event("sale")}, kNow));
  const Document again = must(expect(first, {event("sale")}, kNow));
  EXPECT_EQ(again.expected, first.expected);
  const Document other = must(expect(again, {event("sale", {load_at(8)})}, kNow));
  ASSERT_EQ(other.expected.size(), 1U);
  EXPECT_EQ(other.expected[0].loads, std::vector{load_at(8)});
}

TEST_F(Edits, AnEventIsForgottenByNameOrByItsEnd) {
  const Document next = must(expect(document_, {event("sale"), event("launch")}, kNow));
  EXPECT_EQ(must(forget(next, "sale", kNow)).expected.size(), 1U);
  expect_conflict(forget(next, "nothing", kNow), "no event 'nothing'");
  expect_conflict(forget_ended(next, UnixMillis{8'999}), "no event has ended");
  EXPECT_TRUE(must(forget_ended(next, UnixMillis{9'000})).expected.empty());
}

TEST_F(Edits, AnnouncingDropsWhatHasEnded) {
  const Document next = must(expect(document_, {event("sale")}, kNow));
  ExpectedEvent later = event("launch");
  later.end = UnixMillis{20'000};
  EXPECT_EQ(must(expect(next, {later}, UnixMillis{9'000})).expected.size(), 1U);
}

TEST_F(Edits, ImpossibleEventsAreRefused) {
  const auto refused = [&](const std::function<void(ExpectedEvent&)>& spoil,
                           const std::string& says) {
    ExpectedEvent spoilt = event("sale");
    spoil(spoilt);
    expect_invalid(expect(document_, {spoilt}, kNow), says);
  };
  refused([](ExpectedEvent& e) { e.end = e.start; }, "ends before it starts");
  refused([](ExpectedEvent& e) { e.lead_from = UnixMillis{6'001}; }, "lead time after its start");
  refused(
      [](ExpectedEvent& e) {
        e.start = e.lead_from;
        e.end = kNow;
      },
      "is over already");
  refused([](ExpectedEvent& e) { e.name = ""; }, "event ''");
  refused([](ExpectedEvent& e) { e.loads.clear(); }, "expects no load");
  refused([](ExpectedEvent& e) { e.loads[0].load = 0; }, "load 0 is not from 1");
  refused([](ExpectedEvent& e) { e.loads[0].load = kExpectedLoadMax + 1; }, "is not from 1");
  refused([](ExpectedEvent& e) { e.loads[0].range = {Token{9}, Token{8}}; }, "before it begins");
  refused([](ExpectedEvent& e) { e.loads.push_back(load_at(7)); }, "two loads that share tokens");
  refused([](ExpectedEvent& e) { e.loads = many_loads(kEventLoadsMax + 1, 0); }, "4097 loads");
  expect_invalid(expect(document_, {}, kNow), "no event");
  expect_invalid(expect(document_, {event("a"), event("a")}, kNow), "given twice");
}

TEST_F(Edits, AllEventsTogetherAreBounded) {
  const Document full =
      must(expect(document_,
                  {event("a", many_loads(4'000, 0)), event("b", many_loads(4'000, 0)),
                   event("c", many_loads(2'000, 0))},
                  kNow));
  expect_conflict(expect(full, {event("d")}, kNow), "10001 loads");
  EXPECT_TRUE(expect(full, {event("c", many_loads(2'000, 9))}, kNow));
}

// A router that does not know of events would write the document without them.
TEST_F(Edits, EventsNeedRoutersThatReadThem) {
  const Document old = must(join(document_, {.session = SessionId{"old"}, .reader = 2}));
  expect_conflict(expect(old, {event("sale")}, kNow), "router 'old'");
  const Document next = must(expect(document_, {event("sale")}, kNow));
  expect_invalid(join(next, {.session = SessionId{"old"}, .reader = 2}), "router 'old'");
}

}  // namespace
}  // namespace cleave::ring
