#include "proxy/fan_out.h"

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

FanOut with_parts(Merge merge, std::size_t places, int parts) {
  FanOut fan_out;
  fan_out.begin(merge, places);
  for (int i = 0; i < parts; ++i) fan_out.part_added();
  return fan_out;
}

TEST(FanOut, PutsElementsBackToTheirPlaces) {
  FanOut fan_out = with_parts(Merge::kArrayInOrder, 3, 2);
  fan_out.part_replied("*2\r\n$1\r\nc\r\n$1\r\na\r\n", std::array{2U, 0U});
  EXPECT_FALSE(fan_out.complete());
  fan_out.part_replied("*1\r\n$-1\r\n", std::array{1U});
  EXPECT_TRUE(fan_out.complete());
  EXPECT_EQ(reply_of(fan_out), "*3\r\n$1\r\na\r\n$-1\r\n$1\r\nc\r\n");
}

TEST(FanOut, AddsUp) {
  FanOut fan_out = with_parts(Merge::kSumIntegers, 3, 2);
  fan_out.part_replied(":2\r\n", {});
  fan_out.part_replied(":1\r\n", {});
  EXPECT_EQ(reply_of(fan_out), ":3\r\n");
}

TEST(FanOut, SaysTheFirstError) {
  FanOut fan_out = with_parts(Merge::kAllOk, 3, 3);
  fan_out.part_replied("+OK\r\n", {});
  fan_out.part_failed("ERR node a is down");
  fan_out.part_replied("-OOM later\r\n", {});
  EXPECT_EQ(reply_of(fan_out), "-ERR node a is down\r\n");
}

TEST(FanOut, SaysWhatOfAFlushWasDone) {
  FanOut fan_out = with_parts(Merge::kAllOk, 0, 3);
  fan_out.part_flushed("node a (x:1)", "");
  fan_out.part_flushed("node b (x:2)", "NOPERM no eval");
  fan_out.part_flushed("node c (x:3)", "");
  EXPECT_EQ(reply_of(fan_out),
            "-ERR cleave: only a part was flushed: node a (x:1), node c (x:3); not, or not for "
            "certain: node b (x:2) (NOPERM no eval)\r\n");
  fan_out = with_parts(Merge::kAllOk, 0, 2);
  fan_out.part_flushed("node a (x:1)", "NOPERM no eval");
  fan_out.part_flushed("node b (x:2)", "NOPERM no eval");
  EXPECT_EQ(reply_of(fan_out), "-NOPERM no eval\r\n") << "the servers' own words";
  fan_out = with_parts(Merge::kAllOk, 0, 1);
  fan_out.part_flushed("node a (x:1)", "");
  EXPECT_EQ(reply_of(fan_out), "+OK\r\n");
}

TEST(FanOut, AllOkIsOk) {
  FanOut fan_out = with_parts(Merge::kAllOk, 2, 1);
  fan_out.part_replied("+OK\r\n", {});
  EXPECT_EQ(reply_of(fan_out), "+OK\r\n");
}

TEST(FanOut, TheRoutersOwnKeysAreNotCounted) {
  FanOut fan_out = with_parts(Merge::kSumIntegers, 0, 4);
  fan_out.part_replied(":10\r\n", {});
  fan_out.part_subtracted(":2\r\n");
  fan_out.part_subtracted(":0\r\n");
  fan_out.part_replied(":7\r\n", {});
  EXPECT_EQ(reply_of(fan_out), ":15\r\n");
  FanOut refused = with_parts(Merge::kSumIntegers, 0, 2);
  refused.part_replied(":10\r\n", {});
  refused.part_subtracted("-NOPERM no\r\n");
  EXPECT_EQ(reply_of(refused), "-NOPERM no\r\n");
}

TEST(FanOut, AFailedOneKeepsNoBytes) {
  FanOut fan_out = with_parts(Merge::kArrayInOrder, 3, 3);
  fan_out.part_replied("*1\r\n$3\r\nabc\r\n", std::array{0U});
  EXPECT_GT(fan_out.kept_bytes(), 0U);
  fan_out.part_failed("ERR no");
  EXPECT_EQ(fan_out.kept_bytes(), 0U);
  fan_out.part_replied("*1\r\n$3\r\nabc\r\n", std::array{2U});
  EXPECT_EQ(fan_out.kept_bytes(), 0U);
  EXPECT_EQ(reply_of(fan_out), "-ERR no\r\n");
}

TEST(FanOut, RepliesThatDoNotFitAreErrors) {
  for (const std::string_view raw : {"+OK\r\n", "*1\r\n$1\r\na\r\n", "*-1\r\n", ":1\r\n"}) {
    FanOut fan_out = with_parts(Merge::kArrayInOrder, 2, 1);
    fan_out.part_replied(raw, std::array{0U, 1U});
    EXPECT_TRUE(reply_of(fan_out).starts_with("-ERR")) << raw;
  }
  FanOut sum = with_parts(Merge::kSumIntegers, 2, 1);
  sum.part_replied("$1\r\n1\r\n", {});
  EXPECT_TRUE(reply_of(sum).starts_with("-ERR"));
}

// Any assignment of places to parts gives back the values in order, whatever bytes they have.
TEST(FanOut, KeepsOrderAndBytesForRandomParts) {
  FanOut fan_out;
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
    fan_out.begin(Merge::kArrayInOrder, count);  // the same object again and again
    for (std::size_t i = 0; i < places.size(); ++i) fan_out.part_added();
    for (const std::vector<std::uint32_t>& part : places) {
      std::string raw;
      wire::append_array_header(raw, part.size());
      for (const std::uint32_t place : part) raw += values[place];
      fan_out.part_replied(raw, part);
    }
    ASSERT_EQ(reply_of(fan_out), wanted);
    fan_out.end();
  }
}

}  // namespace
}  // namespace cleave::proxy
