#include "heat/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "heat/ring_testing.h"

namespace cleave::heat {
namespace {

const SessionId kRouter{"router-1"};
const SessionId kOther{"router-2"};

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { ledger_.set_view(view_); }

  // A report of one second in which `load` was spent on the token's range.
  Report report(Token token, std::uint64_t load, std::uint64_t samples = 0) {
    const ring::Entry& entry = view_->entry(view_->find(token));
    Report result{.recorder = 1, .sequence = ++sequence_, .epoch = view_->epoch()};
    result.covers = seconds{1};
    result.sums.push_back({entry.range, entry.node, 100, 50, load});
    for (std::uint64_t count = 0; count < samples; ++count) {
      result.samples.push_back({token, static_cast<std::uint32_t>(load / samples)});
    }
    return result;
  }

  // One tick of two seconds with a report a second.
  void pass_tick(Token token, std::uint64_t load, std::uint64_t samples = 0) {
    for (int second = 0; second < 2; ++second) {
      now_ += seconds{1};
      ASSERT_EQ(ledger_.fold(kRouter, report(token, load, samples), now_), Folded::kAccepted);
    }
    ledger_.tick(now_);
  }

  Picture picture() const { return ledger_.picture(now_); }

  RangeLoad range_of(Token token) const { return picture().ranges[view_->find(token).value()]; }

  ring::RingSnapshot view_ = test_view(test_document(4));
  Instant now_ = seconds{1'000};
  Ledger ledger_{now_};
  std::uint64_t sequence_ = 0;
};

constexpr Token kToken{0x4242'4242'4242'4242};

TEST_F(LedgerTest, PicturesEveryRangeAndEveryNode) {
  const Picture seen = picture();
  ASSERT_EQ(seen.ranges.size(), view_->entries().size());
  EXPECT_EQ(seen.nodes.size(), 4U);
  EXPECT_EQ(seen.epoch, view_->epoch());
  EXPECT_EQ(total_mean(seen), 0U);
}

TEST_F(LedgerTest, TurnsReportsIntoRates) {
  pass_tick(kToken, 5'000'000);
  EXPECT_EQ(range_of(kToken).load.mean, 5'000'000U);
  EXPECT_EQ(range_of(kToken).requests, 100U);
  EXPECT_EQ(range_of(kToken).writes, 50U);
  EXPECT_EQ(total_mean(picture()), 5'000'000U);
}

TEST_F(LedgerTest, DividesByTheTimeCountedNotByTheTimePassed) {
  now_ += seconds{2};
  for (int late = 0; late < 3; ++late) ledger_.fold(kRouter, report(kToken, 700), now_);
  ledger_.tick(now_);
  EXPECT_EQ(range_of(kToken).load.tick, 700U);
}

TEST_F(LedgerTest, AddsUpRoutersAndWorkers) {
  now_ += seconds{2};
  ledger_.fold(kRouter, report(kToken, 100), now_);
  ledger_.fold(kOther, report(kToken, 30), now_);
  Report second_worker = report(kToken, 5);
  second_worker.recorder = 2;
  ledger_.fold(kRouter, second_worker, now_);
  ledger_.tick(now_);
  EXPECT_EQ(range_of(kToken).load.tick, 135U);
  EXPECT_EQ(picture().sources.size(), 3U);
}

TEST_F(LedgerTest, CountsAReportOnce) {
  now_ += seconds{2};
  const Report once = report(kToken, 100);
  EXPECT_EQ(ledger_.fold(kRouter, once, now_), Folded::kAccepted);
  EXPECT_EQ(ledger_.fold(kRouter, once, now_), Folded::kDuplicated);
  ledger_.tick(now_);
  EXPECT_EQ(range_of(kToken).load.tick, 100U);
  EXPECT_EQ(picture().refused.duplicated, 1U);
}

TEST_F(LedgerTest, RefusesWhatCannotBe) {
  using Spoil = void (*)(Report&);
  const std::map<std::string, Spoil> cases{
      {"negative time", [](Report& each) { each.covers = seconds{-1}; }},
      {"more load than ten thousand cores", [](Report& each) { each.sums[0].weight_ns = ~0ULL; }},
      {"more requests than can be", [](Report& each) { each.sums[0].requests = ~0ULL; }},
      {"more writes than requests", [](Report& each) { each.sums[0].writes = 101; }},
      {"a range that runs backwards",
       [](Report& each) { each.sums[0].range = {Token{2}, Token{1}}; }},
      {"a range told twice", [](Report& each) { each.sums.push_back(each.sums[0]); }},
      {"no thinning", [](Report& each) { each.thinning = 0; }},
      {"samples of nothing", [](Report& each) { each.sums.clear(); }},
      {"a hot key surer than possible",
       [](Report& each) { each.hot_keys.push_back({"k", Token{1}, NodeId{1}, 1, 2}); }},
      {"a hot key heavier than everything",
       [](Report& each) { each.hot_keys.push_back({"k", Token{1}, NodeId{1}, ~0ULL, 0}); }},
  };
  std::uint64_t refused = 0;
  for (const auto& [name, spoil] : cases) {
    Report bad = report(kToken, 1'000, 10);
    spoil(bad);
    EXPECT_EQ(ledger_.fold(kRouter, bad, now_), Folded::kAbsurd) << name;
    EXPECT_EQ(picture().refused.absurd, ++refused) << name;
  }
  now_ += seconds{2};
  ledger_.tick(now_);
  EXPECT_EQ(total_mean(picture()), 0U);
}

TEST_F(LedgerTest, DoesNotTakeALongPastForNow) {
  Report old = report(kToken, 1'000'000);
  old.covers = seconds{31};
  now_ += seconds{2};
  EXPECT_EQ(ledger_.fold(kRouter, old, now_), Folded::kStale);
  ledger_.tick(now_);
  EXPECT_EQ(total_mean(picture()), 0U);
  EXPECT_EQ(picture().refused.stale, 1U);
  pass_tick(kToken, 300);  // the next one counts
  EXPECT_EQ(range_of(kToken).load.tick, 300U);
}

TEST_F(LedgerTest, LetsTheLoadOfASilentRouterFadeAndThenForgetsIt) {
  for (int count = 0; count < 5; ++count) pass_tick(kToken, 1'000'000);
  now_ += seconds{2};
  ledger_.tick(now_);
  EXPECT_EQ(range_of(kToken).load.tick, 1'000'000U);
  EXPECT_EQ(silent_ppm(picture()), 0U);
  for (int count = 0; count < 5; ++count) ledger_.tick(now_ += seconds{2});
  EXPECT_NEAR(static_cast<double>(range_of(kToken).load.tick), 500'000.0, 1'000.0);
  EXPECT_EQ(silent_ppm(picture()), 1'000'000U);
  for (int count = 0; count < 30; ++count) ledger_.tick(now_ += seconds{2});
  EXPECT_TRUE(picture().sources.empty());
  EXPECT_EQ(range_of(kToken).load.tick, 0U);
}

TEST_F(LedgerTest, ForgetsARemovedSessionAtOnce) {
  pass_tick(kToken, 1'000'000);
  ledger_.forget(kRouter);
  ledger_.tick(now_ += seconds{2});
  EXPECT_EQ(range_of(kToken).load.tick, 0U);
}

TEST_F(LedgerTest, ATickWithoutTimeDoesNothing) {
  pass_tick(kToken, 1'000);
  const Picture before = picture();
  ledger_.tick(now_);
  EXPECT_EQ(picture(), before);
}

TEST_F(LedgerTest, ShowsTokensThatAddUpToTheirRange) {
  const Token next{kToken.value() + 1};
  for (int count = 0; count < 3; ++count) {
    Report mixed = report(kToken, 4'000, 3);
    mixed.samples.push_back({next, 1'333});
    now_ += seconds{2};
    ledger_.fold(kRouter, mixed, now_);
    ledger_.tick(now_);
  }
  const Picture seen = picture();
  ASSERT_EQ(seen.tokens.size(), 2U);
  EXPECT_EQ(seen.tokens[0].token, kToken);
  EXPECT_EQ(seen.tokens[0].samples, 9U);
  EXPECT_NEAR(static_cast<double>(seen.tokens[0].load), 3'000.0, 2.0);
  EXPECT_NEAR(static_cast<double>(seen.tokens[1].load), 1'000.0, 2.0);
}

TEST_F(LedgerTest, ForgetsTheShapeOfThirtySecondsAgo) {
  pass_tick(kToken, 1'000, 10);
  const Token later{kToken.value() + 5};
  for (int count = 0; count < 15; ++count) pass_tick(later, 1'000, 10);
  const Picture seen = picture();
  ASSERT_EQ(seen.tokens.size(), 1U);
  EXPECT_EQ(seen.tokens[0].token, later);
}

// Of the load of `percent` on the token's node, the rest on another node.
class ShiftTest : public LedgerTest {
 protected:
  void pass_tick_shared(std::uint64_t percent) {
    for (int second = 0; second < 2; ++second) {
      now_ += seconds{1};
      Report shared = report(kToken, percent * 1'000'000, 10);
      const ring::Entry& entry = view_->entry(view_->find(other_));
      shared.sums.push_back({entry.range, entry.node, 100, 50, (100 - percent) * 1'000'000});
      std::ranges::sort(shared.sums, {}, &RangeSum::range);
      ASSERT_EQ(ledger_.fold(kRouter, shared, now_), Folded::kAccepted);
    }
    ledger_.tick(now_);
  }

  // A token of another node than kToken's.
  Token other_ = [this] {
    for (const ring::Entry& entry : view_->entries()) {
      if (entry.node != view_->owner(kToken)) return entry.range.first;
    }
    return kToken;
  }();
};

TEST_F(ShiftTest, AfterThreeTicksOfAnotherLoadTheMeanIsOfThatLoad) {
  for (int tick = 0; tick < 10; ++tick) pass_tick_shared(25);
  pass_tick_shared(90);
  pass_tick_shared(90);
  EXPECT_EQ(range_of(kToken).load.mean, 51'000'000U);
  EXPECT_EQ(picture().tokens[0].samples, 12U * 20U);
  pass_tick_shared(90);
  EXPECT_EQ(range_of(kToken).load.mean, 90'000'000U);
  EXPECT_EQ(picture().tokens[0].samples, 3U * 20U);
}

TEST_F(ShiftTest, ASpikeThatIsOverIsForgotten) {
  for (int tick = 0; tick < 10; ++tick) pass_tick_shared(25);
  pass_tick_shared(90);
  pass_tick_shared(90);
  for (int tick = 0; tick < 3; ++tick) pass_tick_shared(25);
  EXPECT_EQ(range_of(kToken).load.mean, 25'000'000U);
}

TEST_F(ShiftTest, LoadThatBeginsDoesNotShareItsMeanWithTheSilenceBefore) {
  for (int tick = 0; tick < 10; ++tick) ledger_.tick(now_ += seconds{2});
  for (int tick = 0; tick < 3; ++tick) pass_tick_shared(90);
  EXPECT_EQ(range_of(kToken).load.mean, 90'000'000U);
}

TEST_F(ShiftTest, APauseBetweenTwoLoadsHidesNoShift) {
  for (int tick = 0; tick < 4; ++tick) pass_tick_shared(25);
  ledger_.forget(kRouter);
  ledger_.tick(now_ += seconds{2});
  for (int tick = 0; tick < 3; ++tick) pass_tick_shared(90);
  EXPECT_EQ(range_of(kToken).load.mean, 90'000'000U);
}

TEST_F(ShiftTest, MoreLoadOfTheSameShapeIsNoShift) {
  for (int tick = 0; tick < 5; ++tick) pass_tick(kToken, 1'000'000);
  for (int tick = 0; tick < 3; ++tick) pass_tick(kToken, 4'000'000);
  EXPECT_EQ(range_of(kToken).load.mean, 2'800'000U);
}

TEST_F(ShiftTest, AMoveIsNoShift) {
  for (int tick = 0; tick < 10; ++tick) pass_tick_shared(60);
  ring::Document document = view_->document();
  document.epoch = Epoch{document.epoch.value() + 1};
  const ring::Entry entry = view_->entry(view_->find(kToken));
  document.cuts = {{.range = entry.range,
                    .node = NodeId{entry.node.value() % 4 + 1},
                    .reason = "moved",
                    .created = {},
                    .pinned_until = {}}};
  view_ = test_view(document);
  ledger_.set_view(view_);
  pass_tick_shared(60);
  pass_tick_shared(60);
  pass_tick_shared(60);
  EXPECT_EQ(picture().tokens[0].samples, 13U * 20U);
}

TEST_F(LedgerTest, NamesHotKeys) {
  for (int count = 0; count < 5; ++count) {
    Report hot = report(kToken, 1'000'000);
    hot.hot_keys.push_back({"user:1", kToken, NodeId{1}, 900'000, 1'000});
    now_ += seconds{1};
    ledger_.fold(kRouter, hot, now_);
    ledger_.tick(now_);
  }
  const Picture seen = picture();
  ASSERT_EQ(seen.keys.size(), 1U);
  EXPECT_EQ(seen.keys[0].key, "user:1");
  EXPECT_EQ(seen.keys[0].node, view_->owner(kToken));
  EXPECT_NEAR(static_cast<double>(seen.keys[0].load), 900'000.0, 1'000.0);
  EXPECT_EQ(key_at(seen, kToken), "user:1");
  EXPECT_EQ(key_at(seen, Token{1}), "");
}

TEST_F(LedgerTest, ACutInheritsByTheSamplesNotByItsWidth) {
  for (int count = 0; count < 5; ++count) pass_tick(kToken, 1'000'000, 100);
  const ring::Entry entry = view_->entry(view_->find(kToken));
  const ring::TokenRange piece{Token{kToken.value() - 1}, Token{kToken.value() + 1}};
  const Result<ring::Document> cut = ring::lay_cut(
      view_->document(),
      {.range = piece, .node = entry.node, .reason = "test", .created = {}, .pinned_until = {}});
  ASSERT_TRUE(cut);
  view_ = test_view(*cut);
  ledger_.set_view(view_);
  EXPECT_EQ(range_of(kToken).range, piece);
  EXPECT_EQ(range_of(kToken).load.mean, 1'000'000U);
  EXPECT_EQ(range_of(entry.range.first).load.mean, 0U);
}

TEST_F(LedgerTest, ACutWithoutSamplesInheritsByItsWidth) {
  for (int count = 0; count < 5; ++count) pass_tick(kToken, 1'000'000);
  const ring::Entry entry = view_->entry(view_->find(kToken));
  const std::uint64_t half = entry.range.first.value() / 2 + entry.range.last.value() / 2;
  const ring::TokenRange piece{entry.range.first, Token{half}};
  const Result<ring::Document> cut = ring::lay_cut(
      view_->document(),
      {.range = piece, .node = entry.node, .reason = "test", .created = {}, .pinned_until = {}});
  ASSERT_TRUE(cut);
  view_ = test_view(*cut);
  ledger_.set_view(view_);
  EXPECT_NEAR(static_cast<double>(range_of(piece.first).load.mean), 500'000.0, 2.0);
  EXPECT_NEAR(static_cast<double>(range_of(entry.range.last).load.mean), 500'000.0, 2.0);
}

// A random ring with the same nodes: some ranges have other owners and bounds.
ring::RingSnapshot changed(const ring::RingSnapshot& view, Rng& rng) {
  ring::Document document = view->document();
  document.epoch = Epoch{document.epoch.value() + 1};
  document.cuts.clear();
  std::uint64_t at = 0;
  for (int count = 0; count < 20; ++count) {
    const std::uint64_t first = at + 1 + rng.below(1ULL << 58U);
    const std::uint64_t last = first + rng.below(1ULL << 58U);
    document.cuts.push_back({.range = {Token{first}, Token{last}},
                             .node = NodeId{static_cast<std::uint32_t>(1 + rng.below(4))},
                             .reason = "test",
                             .created = {},
                             .pinned_until = {}});
    at = last;
  }
  return test_view(document);
}

TEST(LedgerLaw, NoLoadIsLostWhenTheRingChangesBetweenOrDuringReports) {
  const ring::RingSnapshot first = test_view(test_document(4));
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    const ring::RingSnapshot second = changed(first, rng);
    Ledger ledger{Instant{0}};
    ledger.set_view(first);
    Report report{.recorder = 1, .sequence = 1, .epoch = first->epoch(), .covers = seconds{1}};
    std::uint64_t total = 0;
    for (const ring::Entry& entry : first->entries()) {
      if (rng.chance(9, 10)) continue;
      const std::uint64_t load = rng.below(1'000'000);
      report.sums.push_back({entry.range, entry.node, 10, 5, load});
      report.samples.push_back({entry.range.first, 1});
      total += load;
    }
    ledger.fold(kRouter, report, seconds{1});
    if (rng.chance(1, 2)) ledger.set_view(second);  // what is pending moves along
    ledger.tick(seconds{1});
    ledger.set_view(second);  // and so does what is a rate
    report.sequence = 2;      // of a ring that is gone
    ASSERT_EQ(ledger.fold(kRouter, report, seconds{2}), Folded::kAccepted);
    ledger.tick(seconds{2});
    const std::uint64_t seen = total_mean(ledger.picture(seconds{2}));
    ASSERT_LE(seen, total) << "seed " << seed;
    ASSERT_GE(seen + 4 * second->entries().size(), total) << "seed " << seed;
  }
}

TEST(LedgerLaw, TheOrderOfReportsDoesNotMatter) {
  const ring::RingSnapshot view = test_view(test_document(3));
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    std::vector<Report> reports;
    for (std::uint64_t recorder = 1; recorder <= 5; ++recorder) {
      Report each{.recorder = recorder, .sequence = 1, .epoch = view->epoch()};
      each.covers = milliseconds{500 + static_cast<int>(rng.below(1'000))};
      const ring::Entry& entry = view->entries()[rng.below(view->entries().size())];
      each.sums.push_back({entry.range, entry.node, 10, 1, rng.below(1'000'000)});
      each.samples.push_back({entry.range.last, 7});
      reports.push_back(each);
    }
    const auto picture_of = [&] {
      Ledger ledger{Instant{0}};
      ledger.set_view(view);
      for (const Report& each : reports) ledger.fold(kRouter, each, seconds{1});
      ledger.tick(seconds{2});
      return ledger.picture(seconds{2});
    };
    const Picture forward = picture_of();
    std::ranges::reverse(reports);
    ASSERT_EQ(picture_of(), forward) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::heat
