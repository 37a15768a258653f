#include "rehearse/scenes/naive_ring.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace cleave::rehearse {
namespace {

nlohmann::json json_of(const char* path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, false);
}

TEST(JavaHash, AgreesWithJava) {
  const auto keys = json_of(CLEAVE_SOURCE "/src/ring/testdata/keys.json");
  const auto recorded = json_of(CLEAVE_TESTDATA "/java_string_hashcode.json");
  ASSERT_EQ(keys.size(), 2'000U);
  ASSERT_EQ(recorded["hash"].size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(java_hash(keys[i].get<std::string>()), recorded["hash"][i].get<std::int32_t>())
        << "key " << i;
  }
}

TEST(JavaHash, IsMadePositiveInTwoWays) {
  EXPECT_EQ(java_hash("user-0"), -836031826);
  EXPECT_EQ(masked_hash("user-0"), 1311451822);
  EXPECT_EQ(absolute_hash("user-0"), 836031826);
  EXPECT_EQ(absolute_hash("a"), 97);
}

// The one number that Math.abs cannot make positive; "polygenelubricants" is the known text for it.
TEST(JavaHash, AbsOfTheSmallestNumberStaysNegative) {
  EXPECT_EQ(java_hash("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(absolute_hash("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(masked_hash("polygenelubricants"), 0);
}

TEST(NaiveRing, OwnerIsTheFirstPointAtOrAboveElseTheSmallest) {
  NaiveRing ring;
  ring.put(100, "a");
  ring.put(200, "b");
  EXPECT_EQ(ring.owner(100), "a");
  EXPECT_EQ(ring.owner(101), "b");
  EXPECT_EQ(ring.owner(201), "a");
  EXPECT_EQ(ring.owner(-5), "a");
  ring.put(100, "c");
  EXPECT_EQ(ring.first(), "c");
  ring.remove(100);
  EXPECT_EQ(ring.owner(-5), "b");
}

}  // namespace
}  // namespace cleave::rehearse
