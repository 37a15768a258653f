#include "admin/past_decisions.h"

#include <gtest/gtest.h>

namespace cleave::admin {
namespace {

Json decision(std::int64_t at, const char* subject) {
  return {{"at_ms", at}, {"kind", "move"}, {"subject", subject}};
}

std::string subjects(const Json& decisions) {
  std::string text;
  for (const Json& each : decisions) text += each["subject"].get<std::string>();
  return text;
}

TEST(PastDecisions, AreTakenOnceAndToldNewestFirst) {
  PastDecisions past;
  EXPECT_EQ(past.newest(), UnixMillis{0});
  EXPECT_EQ(past.learn({decision(30, "c"), decision(10, "a")}).size(), 2U);
  const auto fresh = past.learn({decision(30, "c"), decision(20, "b")});
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0]["subject"], "b");
  EXPECT_EQ(past.newest(), UnixMillis{30});
  EXPECT_EQ(subjects(past.with(Json::array())), "cba");
  EXPECT_EQ(subjects(past.with({decision(40, "d"), decision(20, "b")})), "dcba");
}

TEST(PastDecisions, WhatIsNoDecisionIsPassedOver) {
  PastDecisions past;
  EXPECT_TRUE(past.learn(nullptr).empty());
  EXPECT_TRUE(past.learn({7, "x", {{"at_ms", "soon"}, {"kind", "move"}}, {{"at_ms", 1}}}).empty());
  EXPECT_EQ(subjects(past.with(Json::array())), "");
}

TEST(PastDecisions, AreBounded) {
  PastDecisions past;
  for (int i = 0; i < 1'200; ++i) past.learn(Json::array({decision(i, "x")}));
  EXPECT_EQ(past.with(Json::array()).size(), PastDecisions::kKept);
  EXPECT_EQ(past.with(Json::array())[0]["at_ms"], 1'199);
}

}  // namespace
}  // namespace cleave::admin
