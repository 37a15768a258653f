#include "rehearse/assess.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"
#include "ring/schemes/placement.h"

namespace cleave::rehearse {
namespace {

// `hot` of a hundred requests are for one key, the others spread over a thousand.
Trace sample(std::uint64_t hot, std::uint64_t requests = 20'000) {
  TraceParser parser(TraceFormat::kCsv);
  Rng rng(7);
  for (std::uint64_t at = 0; at < requests; ++at) {
    const std::string key =
        rng.chance(hot, 100) ? "the one" : "user:" + std::to_string(rng.below(1'000));
    parser.line(std::to_string(at / 1'000) + "," + key + ",get,100");
  }
  return parser.take();
}

// The load of each node before anything is moved is that of the keys which the scheme has there.
TEST(Assess, PlacesKeysByTheScheme) {
  for (const std::string scheme : {"twemproxy-ketama", "twemproxy-modula", "nginx"}) {
    const ring::SchemeSpec spec{.name = scheme};
    const std::vector<NodeSpec> nodes = {
        {.name = "a", .weight = 2}, {.name = "b"}, {.name = "c", .hash_key = "not c"}};
    const auto assessment = assess(sample(0, 5'000), nodes, 1, spec);
    ASSERT_TRUE(assessment.has_value()) << assessment.error().message;
    const std::vector<ring::PlacedNode> placed = {{"a", 2}, {"b", 1}, {"not c", 1}};
    const auto placement = ring::place(spec, placed);
    ASSERT_TRUE(placement.has_value());
    std::vector<std::uint64_t> requests(nodes.size());
    const Trace trace = sample(0, 5'000);
    for (const TraceRequest& each : trace.requests)
      ++requests[*(*placement)->owner(trace.keys[each.key].name)];
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const std::uint64_t fair = trace.requests.size() * nodes[node].weight / 4;
      const auto want = static_cast<double>(requests[node] * 1'000'000 / fair);
      EXPECT_NEAR(assessment->nodes[node].before_ppm, want, 10'000) << scheme << " " << node;
    }
    EXPECT_EQ(assessment->cuts > 0, scheme == "twemproxy-ketama") << scheme;
  }
  EXPECT_EQ(assess(sample(0), equal_nodes(2), 1, {.name = "kettle"}).error().code, Code::kInvalid);
}

// One node's keys are asked for ten times as often as others: more of all keys have to go than a
// tenth, which once was an hour's budget.
TEST(Assess, KnowsNoBudgetOfAnHour) {
  const std::vector<NodeSpec> nodes = equal_nodes(4);
  const auto placement =
      ring::place({.name = "vnode"}, {{{"n1", 1}, {"n2", 1}, {"n3", 1}, {"n4", 1}}});
  ASSERT_TRUE(placement.has_value());
  TraceParser parser(TraceFormat::kCsv);
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::uint64_t number = 0; number < 1'000; ++number) {
      const std::string key = "user:" + std::to_string(number);
      const bool hot = *(*placement)->owner(key) == 0;
      if (!hot && round % 10 != 0) continue;
      parser.line(std::to_string(round) + "," + key + ",get,100");
    }
  }
  const auto assessment = assess(parser.take(), nodes, 1);
  ASSERT_TRUE(assessment.has_value());
  EXPECT_GT(assessment->before_ppm, 2'500'000U);
  EXPECT_LE(assessment->after_ppm, 1'150'000U);
  EXPECT_GT(assessment->keys_moved, 1'000U * 12 / 100);
}

TEST(Assess, NamesTheKeyThatNoCutCanHelp) {
  const auto assessment = assess(sample(50), equal_nodes(4), 1);
  ASSERT_TRUE(assessment.has_value());
  ASSERT_FALSE(assessment->uncuttable.empty());
  const UncuttableToken& first = assessment->uncuttable[0];
  EXPECT_EQ(first.keys, std::vector<std::string>{"the one"});
  EXPECT_EQ(first.key_count, 1U);
  // Half of all load, on one of four nodes: twice its fair load.
  EXPECT_NEAR(first.load_ppm, 500'000, 20'000);
  EXPECT_NEAR(first.fair_ppm, 2'000'000, 80'000);
  EXPECT_EQ(assessment->bound_ppm, first.fair_ppm);
  EXPECT_GE(assessment->before_ppm, assessment->bound_ppm);
  EXPECT_LE(assessment->after_ppm, assessment->before_ppm);
}

TEST(Assess, EvenLoadNeedsNoCut) {
  const auto assessment = assess(sample(0), equal_nodes(2), 1);
  ASSERT_TRUE(assessment.has_value());
  EXPECT_TRUE(assessment->uncuttable.empty());
  EXPECT_EQ(assessment->moves, 0U);
  EXPECT_EQ(assessment->keys_moved, 0U);
  EXPECT_EQ(assessment->before_ppm, assessment->after_ppm);
  EXPECT_EQ(assessment->nodes.size(), 2U);
}

TEST(Assess, KeysOfATagAreOneToken) {
  TraceParser parser(TraceFormat::kCsv);
  for (int at = 0; at < 300; ++at) {
    parser.line("1,{tag}:" + std::to_string(at % 3) + ",get,1");
    parser.line("1,other:" + std::to_string(at) + ",get,1");
  }
  const auto assessment = assess(parser.take(), equal_nodes(2), 1);
  ASSERT_TRUE(assessment.has_value());
  ASSERT_EQ(assessment->uncuttable.size(), 1U);
  EXPECT_EQ(assessment->uncuttable[0].key_count, 3U);
}

TEST(Assess, RefusesWhatCannotBe) {
  EXPECT_EQ(assess({}, equal_nodes(2), 1).error().code, Code::kInvalid);
  EXPECT_EQ(assess(sample(0, 10), {}, 1).error().code, Code::kInvalid);
  EXPECT_EQ(assess(sample(0, 10), {{.name = "a"}, {.name = "a"}}, 1).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cleave::rehearse
