#include "heat/recorder.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"
#include "heat/ring_testing.h"

namespace cleave::heat {
namespace {

constexpr std::uint32_t kWeight = 8'000;

class RecorderTest : public ::testing::Test {
 protected:
  void record(std::string_view key, Access access = Access::kRead, std::uint32_t weight = kWeight) {
    const Token token = view_->token_of(key);
    recorder_.record(view_->find(token), token, key, access, weight);
  }

  ring::RingSnapshot view_ = test_view(test_document(4));
  Recorder recorder_{1, Instant{0}};
};

TEST_F(RecorderTest, HasNothingToSayBeforeTheFirstView) {
  EXPECT_TRUE(recorder_.take(seconds{1}).empty());
}

TEST_F(RecorderTest, SaysThatItWasIdle) {
  recorder_.set_view(view_, Instant{0});
  const std::vector<Report> reports = recorder_.take(seconds{1});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].epoch, view_->epoch());
  EXPECT_EQ(reports[0].covers, seconds{1});
  EXPECT_TRUE(reports[0].sums.empty());
}

TEST_F(RecorderTest, SumsAreExactAndStartAgainAfterATake) {
  recorder_.set_view(view_, Instant{0});
  record("a", Access::kWrite, 10);
  record("a", Access::kRead, 20);
  record("b", Access::kRead, 5);
  const std::vector<Report> reports = recorder_.take(seconds{1});
  ASSERT_EQ(reports.size(), 1U);
  std::map<Token, RangeSum> by_token;
  for (const RangeSum& sum : reports[0].sums) by_token[sum.range.first] = sum;
  const ring::Entry& entry = view_->entry(view_->find(view_->token_of("a")));
  const RangeSum want{entry.range, entry.node, 2, 1, 30};
  EXPECT_EQ(by_token[entry.range.first], want);
  EXPECT_TRUE(recorder_.take(seconds{2})[0].sums.empty());
}

TEST_F(RecorderTest, NumbersItsReports) {
  recorder_.set_view(view_, Instant{0});
  EXPECT_EQ(recorder_.take(seconds{1})[0].sequence, 1U);
  const Report second = recorder_.take(seconds{2})[0];
  EXPECT_EQ(second.sequence, 2U);
  EXPECT_EQ(second.recorder, 1U);
}

TEST_F(RecorderTest, KeepsWhatWasCountedUnderAnOlderView) {
  recorder_.set_view(view_, Instant{0});
  record("a");
  ring::Document next = view_->document();
  next.epoch = Epoch{next.epoch.value() + 1};
  recorder_.set_view(test_view(next), milliseconds{400});
  record("a");
  const std::vector<Report> reports = recorder_.take(seconds{1});
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].epoch, view_->epoch());
  EXPECT_EQ(reports[0].covers, milliseconds{400});
  EXPECT_EQ(reports[1].epoch, next.epoch);
  EXPECT_EQ(reports[1].covers, milliseconds{600});
  EXPECT_EQ(reports[0].sums, reports[1].sums);
}

TEST_F(RecorderTest, ThinsToAboutTwoThousandSamplesASecond) {
  recorder_.set_view(view_, Instant{0});
  Rng rng(3);
  for (int second = 1; second <= 5; ++second) {
    for (int count = 0; count < 100'000; ++count) record(std::to_string(rng.below(10'000)));
    const Report report = recorder_.take(seconds{second})[0];
    EXPECT_LE(report.samples.size(), 8'192U);
    if (second == 1) continue;  // had to learn the rate
    EXPECT_EQ(report.thinning, 50U);
    EXPECT_NEAR(static_cast<double>(report.samples.size()), 2'000.0, 200.0);
  }
}

TEST_F(RecorderTest, SamplesStandForTheWholeLoadAlsoWhenThinnedInMidInterval) {
  recorder_.set_view(view_, Instant{0});
  Rng rng(4);
  for (int count = 0; count < 300'000; ++count) record(std::to_string(rng.below(10'000)));
  const Report report = recorder_.take(seconds{1})[0];  // thinning began at 1
  std::uint64_t sampled = 0;
  for (const Sample& sample : report.samples) sampled += std::uint64_t{sample.weight_ns};
  const double want = 300'000.0 * kWeight;
  EXPECT_GT(report.thinning, 1U);
  EXPECT_NEAR(static_cast<double>(sampled) * report.thinning, want, want * 0.1);
}

TEST_F(RecorderTest, IsNotFooledByARhythm) {
  recorder_.set_view(view_, Instant{0});
  for (int second = 1; second <= 3; ++second) {  // thinning 50; the hot key comes each 50th time
    for (int count = 0; count < 100'000; ++count) record(count % 50 == 0 ? "hot" : "cold");
    const Report report = recorder_.take(seconds{second})[0];
    if (second == 1) continue;
    std::size_t hot = 0;
    for (const Sample& each : report.samples) hot += each.token == view_->token_of("hot") ? 1U : 0U;
    EXPECT_NEAR(static_cast<double>(hot), 40.0, 30.0);
  }
}

TEST_F(RecorderTest, NamesTheHottestKeys) {
  recorder_.set_view(view_, Instant{0});
  Rng rng(5);
  for (int second = 1; second <= 2; ++second) {
    for (int count = 0; count < 100'000; ++count) {
      record(rng.chance(1, 10) ? "hot" : std::to_string(rng.below(50'000)));
    }
    const Report report = recorder_.take(seconds{second})[0];
    const auto hot = std::ranges::find(report.hot_keys, std::string("hot"), &HotKey::key);
    ASSERT_NE(hot, report.hot_keys.end());
    EXPECT_EQ(hot->token, view_->token_of("hot"));
    EXPECT_EQ(hot->node, view_->owner(hot->token));
    EXPECT_NEAR(static_cast<double>(hot->weight_ns), 10'000.0 * kWeight, 2'000.0 * kWeight);
  }
}

TEST_F(RecorderTest, CutsLongKeyNamesShort) {
  recorder_.set_view(view_, Instant{0});
  for (int count = 0; count < 1'000; ++count) record(std::string(5'000, 'x'));
  const Report report = recorder_.take(seconds{1})[0];
  ASSERT_FALSE(report.hot_keys.empty());
  EXPECT_EQ(report.hot_keys[0].key, std::string(128, 'x'));
}

TEST_F(RecorderTest, KeepsNoMoreThanSixteenReportsForATakeThatDoesNotCome) {
  ring::Document next = view_->document();
  for (int change = 0; change < 40; ++change) {
    next.epoch = Epoch{next.epoch.value() + 1};
    recorder_.set_view(test_view(next), seconds{change});
  }
  const std::vector<Report> reports = recorder_.take(seconds{60});
  EXPECT_EQ(reports.size(), 16U);
  EXPECT_EQ(reports.back().epoch, next.epoch);
}

TEST_F(RecorderTest, GivesTheSameForTheSameSeed) {
  Recorder other(1, Instant{0});
  recorder_.set_view(view_, Instant{0});
  other.set_view(view_, Instant{0});
  Rng rng(6);
  for (int count = 0; count < 50'000; ++count) {
    const std::string key = std::to_string(rng.below(1'000));
    const Token token = view_->token_of(key);
    record(key);
    other.record(view_->find(token), token, key, Access::kRead, kWeight);
  }
  EXPECT_EQ(recorder_.take(seconds{1})[0].samples, other.take(seconds{1})[0].samples);
}

}  // namespace
}  // namespace cleave::heat
