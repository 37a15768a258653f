#include "rehearse/summary.h"

#include <gtest/gtest.h>

#include "rehearse/oscillations.h"
#include "rehearse/workloads/pool.h"

namespace cleave::rehearse {
namespace {

constexpr ring::TokenRange kLow{Token{0}, Token{99}};
constexpr ring::TokenRange kHigh{Token{50}, Token{199}};

balance::PlannedMove move(std::uint32_t source, std::uint32_t destination, ring::TokenRange range) {
  return {.ranges = {range}, .source = NodeId{source}, .destination = NodeId{destination}};
}

TEST(Oscillations, CountsWhatComesBackWithinTheHour) {
  Oscillations oscillations;
  oscillations.moved(move(1, 2, kLow), seconds{0});
  oscillations.moved(move(2, 3, kLow), seconds{10});  // further on is not back
  EXPECT_EQ(oscillations.count(), 0U);
  oscillations.moved(move(2, 1, kHigh), seconds{20});
  EXPECT_EQ(oscillations.count(), 1U);
  oscillations.moved(move(3, 2, kLow), seconds{3'700});  // an hour and more
  EXPECT_EQ(oscillations.count(), 1U);
}

TEST(Oscillations, CountsABoundaryThatIsLaidAgainAfterItsMerge) {
  using enum Oscillations::By;
  ring::Document cut;
  cut.cuts.resize(1);
  cut.cuts.front().range = kLow;
  const ring::Document plain;
  Oscillations oscillations;
  oscillations.cuts_changed(cut, kOther, seconds{0});
  oscillations.cuts_changed(plain, kOther, seconds{10});  // by a move home: no merge
  oscillations.cuts_changed(cut, kOther, seconds{20});
  EXPECT_EQ(oscillations.count(), 0U);
  oscillations.cuts_changed(plain, kMerge, seconds{30});
  oscillations.cuts_changed(cut, kOther, seconds{40});
  EXPECT_EQ(oscillations.count(), 2U);  // both of its ends
  oscillations.cuts_changed(plain, kMerge, seconds{50});
  oscillations.cuts_changed(cut, kOther, seconds{3'700});
  EXPECT_EQ(oscillations.count(), 2U);
}

Record record_of(std::vector<RecordedMove> moves) {
  Record record{.nodes = {{}, {}}, .moves = std::move(moves)};
  record.moments.push_back({.node_load = {300, 100}});
  return record;
}

TEST(Summary, TellsWhenItWasNoticedAndWhenItWasLevel) {
  Course course{.turns = {{.least = {.load = 80, .keys = 4}}}};
  for (int at = 0; at < 100; ++at) {
    const std::uint32_t peak = at < 10 ? 1'000'000 : at < 30 ? 1'500'000 : 1'090'000;
    course.points.push_back({.at = seconds{at}, .peak_ppm = peak, .bound_ppm = 1'000'000});
  }
  const Record record = record_of({
      {.began = seconds{16}, .load = 90, .keys = 6, .committed = true},
      {.began = seconds{20}, .load = 50, .keys = 6, .committed = false},
  });
  const Summary summary = summarise(record, course);
  EXPECT_EQ(summary.seconds_to_detect, 6U);
  EXPECT_EQ(summary.seconds_to_converge, 20U);
  EXPECT_EQ(summary.moves, 1U);
  EXPECT_EQ(summary.keys_moved, 6U);
  EXPECT_EQ(summary.keys_moved_bound, 4U);
  EXPECT_DOUBLE_EQ(summary.load_moved_over_bound, 90.0 / 80);
  EXPECT_DOUBLE_EQ(summary.peak_over_mean, 1.09);
}

TEST(Summary, OfALoadThatNeverRestsTakesMeansAndTheSlowestTurn) {
  Course course{.turns = {{}, {.at = seconds{50}}}, .rests = false};
  for (int at = 0; at < 100; ++at) {
    const int since = at % 50;
    course.points.push_back({.at = seconds{at},
                             .peak_ppm = since < (at < 50 ? 5 : 25) ? 2'000'000U : 1'000'000U,
                             .bound_ppm = 1'000'000});
  }
  const Summary summary = summarise(record_of({}), course);
  EXPECT_EQ(summary.seconds_to_converge, 25U);
  EXPECT_NEAR(summary.peak_over_mean, 1.5, 0.02);
  EXPECT_EQ(summary.seconds_to_detect, std::nullopt);
}

TEST(LeastWork, TakesTheDensestKeysThatFitElsewhere) {
  const ring::Document document = Pool({{.name = "a"}, {.name = "b"}}, UnixMillis{1}).document();
  const ring::RingSnapshot view = *ring::RingView::build(document);
  // Three tokens of the first node: too heavy for the other one, dense, and not so dense.
  std::vector<Truth::Atom> atoms;
  for (std::uint64_t token = 0; atoms.size() < 3; token += std::uint64_t{1} << 40U) {
    if (view->owner(Token{token}) == NodeId{1}) atoms.push_back({.token = Token{token}});
  }
  atoms[0] = {.token = atoms[0].token, .load = 1'000, .keys = 1};
  atoms[1] = {.token = atoms[1].token, .load = 300, .keys = 1};
  atoms[2] = {.token = atoms[2].token, .load = 700, .keys = 7};
  const std::vector<Amount> nodes = {{.load = 2'000}, {.load = 400}};
  const std::vector<std::uint64_t> fair = {1'200, 1'200};
  const Least least = least_work(*view, atoms, nodes, fair, 1'100'000);
  EXPECT_EQ(least.load, 680U);
  EXPECT_EQ(least.keys, 1U + 4U);  // 300 for one key, 380 more for four of seven
}

}  // namespace
}  // namespace cleave::rehearse
