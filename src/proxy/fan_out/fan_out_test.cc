#include "proxy/fan_out/fan_out.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/rng.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using route::Merge;

std::string reply_of(const FanOut& fan_out) {
  std::string out;
  fan_out.append_reply(out);
  return out;
}

// One with memory of its own.
struct Whole {
  explicit Whole(std::size_t bytes_max = 1'000'000) : gathered(bytes_max), fan_out(gathered) {}
  Whole(Merge merge, std::size_t places, int parts) : Whole() { begin(merge, places, parts); }

  bool begin(Merge merge, std::size_t places, int parts) {
    const bool fits = fan_out.begin(merge, places);
    for (int i = 0; i < parts; ++i) fan_out.part_added();
    return fits;
  }

  GatheredBytes gathered;
  FanOut fan_out;
};

TEST(FanOut, PutsElementsBackToTheirPlaces) {
  Whole whole(Merge::kArrayInOrder, 3, 2);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied("*2\r\n$1\r\nc\r\n$1\r\na\r\n", std::array{2U, 0U});
  EXPECT_FALSE(fan_out.complete());
  fan_out.part_replied("*1\r\n$-1\r\n", std::array{1U});
  EXPECT_TRUE(fan_out.complete());
  EXPECT_EQ(reply_of(fan_out), "*3\r\n$1\r\na\r\n$-1\r\n$1\r\nc\r\n");
}

TEST(FanOut, AddsUp) {
  Whole whole(Merge::kSumIntegers, 3, 2);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied(":2\r\n", {});
  fan_out.part_replied(":1\r\n", {});
  EXPECT_EQ(reply_of(fan_out), ":3\r\n");
}

TEST(FanOut, SaysTheFirstError) {
  Whole whole(Merge::kAllOk, 3, 3);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied("+OK\r\n", {});
  fan_out.part_failed("ERR node a is down");
  fan_out.part_replied("-OOM later\r\n", {});
  EXPECT_EQ(reply_of(fan_out), "-ERR node a is down\r\n");
}

TEST(FanOut, SaysWhatOfAFlushWasDone) {
  Whole whole(Merge::kAllOk, 0, 3);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_flushed("node a (x:1)", "");
  fan_out.part_flushed("node b (x:2)", "NOPERM no eval");
  fan_out.part_flushed("node c (x:3)", "");
  EXPECT_EQ(reply_of(fan_out),
            "-ERR cleave: only a part was flushed: node a (x:1), node c (x:3); not, or not for "
            "certain: node b (x:2) (NOPERM no eval)\r\n");
  whole.begin(Merge::kAllOk, 0, 2);
  fan_out.part_flushed("node a (x:1)", "NOPERM no eval");
  fan_out.part_flushed("node b (x:2)", "NOPERM no eval");
  EXPECT_EQ(reply_of(fan_out), "-NOPERM no eval\r\n") << "the servers' own words";
  whole.begin(Merge::kAllOk, 0, 1);
  fan_out.part_flushed("node a (x:1)", "");
  EXPECT_EQ(reply_of(fan_out), "+OK\r\n");
}

TEST(FanOut, AllOkIsOk) {
  Whole whole(Merge::kAllOk, 2, 1);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied("+OK\r\n", {});
  EXPECT_EQ(reply_of(fan_out), "+OK\r\n");
}

TEST(FanOut, TheRoutersOwnKeysAreNotCounted) {
  Whole whole(Merge::kSumIntegers, 0, 4);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied(":10\r\n", {});
  fan_out.part_subtracted(":2\r\n");
  fan_out.part_subtracted(":0\r\n");
  fan_out.part_replied(":7\r\n", {});
  EXPECT_EQ(reply_of(fan_out), ":15\r\n");
  Whole other(Merge::kSumIntegers, 0, 2);
  FanOut& refused = other.fan_out;
  refused.part_replied(":10\r\n", {});
  refused.part_subtracted("-NOPERM no\r\n");
  EXPECT_EQ(reply_of(refused), "-NOPERM no\r\n");
}

TEST(FanOut, AFailedOneKeepsNoBytes) {
  Whole whole(Merge::kArrayInOrder, 3, 3);
  FanOut& fan_out = whole.fan_out;
  fan_out.part_replied("*1\r\n$3\r\nabc\r\n", std::array{0U});
  EXPECT_GT(whole.gathered.bytes(), 0U);
  fan_out.part_failed("ERR no");
  EXPECT_EQ(whole.gathered.bytes(), 0U);
  fan_out.part_replied("*1\r\n$3\r\nabc\r\n", std::array{2U});
  EXPECT_EQ(whole.gathered.bytes(), 0U);
  EXPECT_EQ(reply_of(fan_out), "-ERR no\r\n");
}

TEST(FanOut, RepliesThatDoNotFitAreErrors) {
  for (const std::string_view raw : {"+OK\r\n", "*1\r\n$1\r\na\r\n", "*-1\r\n", ":1\r\n"}) {
    Whole whole(Merge::kArrayInOrder, 2, 1);
    FanOut& fan_out = whole.fan_out;
    fan_out.part_replied(raw, std::array{0U, 1U});
    EXPECT_TRUE(reply_of(fan_out).starts_with("-ERR")) << raw;
  }
  Whole other(Merge::kSumIntegers, 2, 1);
  FanOut& sum = other.fan_out;
  sum.part_replied("$1\r\n1\r\n", {});
  EXPECT_TRUE(reply_of(sum).starts_with("-ERR"));
}

// Any assignment of places to parts gives back the values in order, whatever bytes they have.
TEST(FanOut, KeepsOrderAndBytesForRandomParts) {
  Whole whole;
  FanOut& fan_out = whole.fan_out;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::size_t count = 1 + rng.below(40);
    std::string wanted;
    wire::append_array_header(wanted, count);
    std::vector<std::vector<std::uint32_t>> places(1 + rng.below(5));
    std::vector<std::string> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::string value;
      for (std::uint64_t n = rng.below(20); n > 0; --n) {
        value += std::string_view("\r\n\0$*+-:5\xff", 10)[rng.below(10)];
      }
      wire::append_bulk(values[i], value);
      wanted += values[i];
      places[rng.below(places.size())].push_back(static_cast<std::uint32_t>(i));
    }
    ASSERT_TRUE(fan_out.begin(Merge::kArrayInOrder, count));  // the same object again and again
    for (std::size_t i = 0; i < places.size(); ++i) fan_out.part_added();
    for (const std::vector<std::uint32_t>& part : places) {
      std::string raw;
      wire::append_array_header(raw, part.size());
      for (const std::uint32_t place : part) raw += values[place];
      fan_out.part_replied(raw, part);
    }
    ASSERT_EQ(reply_of(fan_out), wanted);
    fan_out.end();
    ASSERT_EQ(whole.gathered.bytes(), 0U);
  }
}

TEST(FanOut, WhatAllOfThemKeepIsBounded) {
  GatheredBytes gathered(300);
  FanOut one(gathered);
  FanOut other(gathered);
  EXPECT_FALSE(one.begin(Merge::kArrayInOrder, 1'000)) << "no room for so many places";
  EXPECT_EQ(gathered.bytes(), 0U);
  EXPECT_TRUE(one.begin(Merge::kSumIntegers, 1'000)) << "which only values need";
  EXPECT_TRUE(one.begin(Merge::kArrayInOrder, 2));
  EXPECT_TRUE(other.begin(Merge::kArrayInOrder, 2));
  for (FanOut* each : {&one, &other}) {
    for (int i = 0; i < 2; ++i) each->part_added();
  }
  const std::string value = "$100\r\n" + std::string(100, 'x') + "\r\n";
  one.part_replied("*1\r\n" + value, std::array{0U});
  EXPECT_FALSE(one.overflowed());
  other.part_replied("*1\r\n" + value, std::array{0U});
  other.part_replied("*1\r\n" + value, std::array{1U});
  EXPECT_TRUE(other.overflowed()) << gathered.bytes();
  EXPECT_EQ(reply_of(other), "-" + gathered.refusal() + "\r\n") << "an error, never a part of it";
  one.part_replied("*1\r\n$1\r\ny\r\n", std::array{1U});
  EXPECT_EQ(reply_of(one), "*2\r\n" + value + "$1\r\ny\r\n") << "others are not touched";
  one.end();
  EXPECT_EQ(gathered.bytes(), 0U);
}

}  // namespace
}  // namespace cleave::proxy
