#include "balance/input/key_census.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "balance/closed_pool_testing.h"
#include "base/hash.h"
#include "base/rng.h"

namespace cleave::balance {
namespace {

constexpr Instant kNow{seconds{1'000}};

MetKey key(std::uint64_t number, std::uint64_t bytes) {
  const std::string name = "key:" + std::to_string(number);
  return {.name_hash = xxh3_64(name), .token = ring::vnode_token(name), .bytes = bytes};
}

class Census : public testing::Test {
 protected:
  const std::vector<KeySample>& sample() { return census_.sample(*view_, NodeId{1}); }
  std::uint64_t keys_told() {
    std::uint64_t ppm = 0;
    for (const KeySample& each : sample()) ppm += each.weight_ppm;
    return ppm / 1'000'000;
  }
  double bytes_told() {
    double bytes = 0;
    for (const KeySample& each : sample()) {
      bytes += static_cast<double>(each.bytes) * each.weight_ppm / 1e6;
    }
    return bytes;
  }

  ring::RingSnapshot view_ = test_view(test_document(1));
  KeyCensus census_;
};

TEST_F(Census, WhatIsMetTwiceIsKeptOnceAsItWasLast) {
  census_.add({{key(1, 10), key(2, 20)}}, kNow);
  census_.add({{key(2, 21), key(3, 30), key(3, 30)}}, kNow + seconds{1});
  EXPECT_EQ(sample().size(), 3U);
  EXPECT_EQ(bytes_told(), 61);
}

TEST_F(Census, WhatIsNotMetAgainIsForgotten) {
  census_.add({{key(1, 10), key(2, 20)}}, kNow);
  census_.add({{key(2, 20)}}, kNow + KeyCensus::kForget + seconds{1});
  EXPECT_EQ(sample().size(), 1U);
}

TEST_F(Census, OnlyTheNodesOwnKeysCount) {
  view_ = test_view(test_document(2));
  for (std::uint64_t number = 0; number < 1'000; ++number) census_.add({{key(number, 1)}}, kNow);
  EXPECT_NEAR(static_cast<double>(keys_told()), 500, 60);
  ASSERT_TRUE(std::ranges::is_sorted(sample()));
  for (const KeySample& each : sample()) ASSERT_EQ(view_->owner(each.token), NodeId{1});
}

// A hundred keys hold nine tenths of the bytes of a hundred thousand: each one stays known.
TEST_F(Census, TheLargeOnesAreKnownOneByOneHoweverManyAreMet) {
  constexpr std::uint64_t kKeys = 100'000;
  std::uint64_t bytes = 0;
  for (std::uint64_t first = 0; first < kKeys; first += 250) {
    std::vector<MetKey> page;
    for (std::uint64_t number = first; number < first + 250; ++number) {
      page.push_back(key(number, number % 1'000 == 7 ? 1'000'000 : 100 + number % 50));
      bytes += page.back().bytes;
    }
    census_.add(page, kNow);
  }
  EXPECT_LE(sample().size(), KeyCensus::kKept);
  EXPECT_EQ(std::ranges::count(sample(), 1'000'000U, &KeySample::bytes), 100);
  EXPECT_NEAR(bytes_told() / static_cast<double>(bytes), 1, 0.005);
  EXPECT_NEAR(static_cast<double>(keys_told()) / kKeys, 1, 0.05);
}

TEST_F(Census, SumsAreRightForRandomSizesToo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    KeyCensus census;
    double true_bytes = 0;
    for (std::uint64_t first = 0; first < 40'000; first += 500) {
      std::vector<MetKey> page;
      for (std::uint64_t at = first; at < first + 500; ++at) {
        page.push_back(key(at + seed * 1'000'000, std::uint64_t{1} << rng.below(20)));
        if (page.back().token.value() >> 63U == 0) {
          true_bytes += static_cast<double>(page.back().bytes);
        }
      }
      census.add(page, kNow);
    }
    double told = 0;
    for (const KeySample& each : census.sample(*view_, NodeId{1})) {
      if (each.token.value() >> 63U == 0) {
        told += static_cast<double>(each.bytes) * each.weight_ppm / 1e6;
      }
    }
    EXPECT_NEAR(told / true_bytes, 1, 0.05) << "seed " << seed;
  }
}

TEST(KeysToMeet, OfSmallNodesAlmostAllOfLargeOnesSoMany) {
  const std::vector<KeySample> sample(1'000);
  EXPECT_EQ(keys_to_meet(sample, 1'000), 0U);
  EXPECT_EQ(keys_to_meet(sample, 2'000), 800U);
  EXPECT_EQ(keys_to_meet(sample, 10'000'000), KeyCensus::kEnoughKeys - 1'000);
}

TEST(HurriedWalks, OnlyWhereBytesMayHaveToMove) {
  std::vector<NodeFacts> nodes(4);
  for (NodeFacts& each : nodes) {
    each.keys = 10'000;
    each.memory_bytes = 100;
    each.memory_bytes_max = 1'000;
  }
  nodes[2].memory_bytes = 200;
  nodes[3].memory_bytes = 800;
  nodes[3].memory_bytes_max = 0;
  for (std::uint32_t number = 0; number < 4; ++number) nodes[number].id = NodeId{number};
  EXPECT_EQ(hurried_walks(nodes, {}, UnixMillis{50'000}), std::vector{NodeId{2}});
  EXPECT_EQ(nodes[0].sample_due, UnixMillis{});
  EXPECT_EQ(nodes[2].sample_due, UnixMillis{59'000});  // 8,192 keys, 1,024 a second
  EXPECT_EQ(nodes[3].sample_due, UnixMillis{});
}

TEST(HurriedWalks, GoOnAfterEnoughIsKnownUntilMoreTellsNothing) {
  std::vector<NodeFacts> nodes(2);
  for (NodeFacts& each : nodes) {
    each.keys = 20'000;
    each.memory_bytes_max = 1'000;
  }
  nodes[0].memory_bytes = 500;
  nodes[0].key_sample.resize(9'000);
  EXPECT_EQ(hurried_walks(nodes, {}, UnixMillis{50'000}).size(), 1U);
  EXPECT_EQ(nodes[0].sample_due, UnixMillis{});
  nodes[0].key_sample.resize(18'000);
  EXPECT_TRUE(hurried_walks(nodes, {}, UnixMillis{50'000}).empty());
}

}  // namespace
}  // namespace cleave::balance
