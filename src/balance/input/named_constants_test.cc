#include "balance/input/named_constants.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>

namespace cleave::balance {
namespace {

TEST(NamedConstants, NamesEveryMember) {
  std::ifstream header(CLEAVE_SOURCE "/src/balance/input/constants.h");
  std::vector<std::string> members;
  const std::regex member(R"(^  (?:std::uint32_t|std::uint64_t|std::size_t|milliseconds) (\w+))");
  for (std::string line; std::getline(header, line);) {
    std::smatch found;
    if (std::regex_search(line, found, member)) members.push_back(found[1]);
  }
  std::vector<std::string> names;
  for (const NamedConstant& each : named_constants({})) names.emplace_back(each.name);
  EXPECT_EQ(names, members);
}

TEST(NamedConstants, SetsOneAndLeavesTheOthers) {
  Constants constants;
  ASSERT_TRUE(set_constant(constants, "hot_ppm", 1'700'000));
  ASSERT_TRUE(set_constant(constants, "dwell", 5'000));
  ASSERT_TRUE(set_constant(constants, "pieces_max", 3));
  EXPECT_EQ(constants.hot_ppm, 1'700'000U);
  EXPECT_EQ(constants.dwell, milliseconds{5'000});
  EXPECT_EQ(constants.pieces_max, 3U);
  EXPECT_EQ(constants.stop_ppm, Constants{}.stop_ppm);
}

TEST(NamedConstants, RefusesWhatDoesNotExistOrFit) {
  Constants constants;
  EXPECT_EQ(set_constant(constants, "hot", 1).error().code, Code::kInvalid);
  EXPECT_EQ(set_constant(constants, "hot_ppm", 1ULL << 32U).error().code, Code::kInvalid);
  EXPECT_EQ(set_constant(constants, "dwell", 1ULL << 63U).error().code, Code::kInvalid);
  EXPECT_EQ(named_constants(constants), named_constants({}));
}

// A file that sets one of these would end the router at its first plan.
TEST(NamedConstants, RefusesWhatThePlannerCannotComputeWith) {
  Constants constants;
  for (const char* name : {"slow_divisor", "pieces_usual", "unseen_ppm", "expected_points"}) {
    EXPECT_FALSE(set_constant(constants, name, 0)) << name;
    EXPECT_TRUE(set_constant(constants, name, 1)) << name;
  }
  EXPECT_FALSE(set_constant(constants, "hot_ticks_of", 0));
  EXPECT_FALSE(set_constant(constants, "hot_ticks_of", 9));
  EXPECT_TRUE(set_constant(constants, "hot_ticks_of", 8));
}

}  // namespace
}  // namespace cleave::balance
