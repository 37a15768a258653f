#include "history/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

namespace cleave::history {
namespace {

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kNow = 1'700'000'400'000;  // a whole multiple of ten minutes

HeatPoint point(std::int64_t at, std::uint64_t load, std::uint32_t strip = 3) {
  return {.at = UnixMillis{at},
          .covers = milliseconds{10'000},
          .nodes = {{1, load, 10, 5}},
          .strips = {{strip, load, 10, 5}}};
}

// A directory of its own for each test.
class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() /
                 ("cleave-history-" + std::string(info->name()) + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~HistoryTest() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ / "history.db"; }

  std::filesystem::path directory_;
};

// ---- Database ---------------------------------------------------------------------------------

class DatabaseTest : public HistoryTest {
 protected:
  Database database_ = *Database::open(path(), std::uint64_t{64} << 20U);
};

TEST_F(DatabaseTest, GivesBackHeatOldestFirst) {
  ASSERT_TRUE(database_.add(point(kNow + 10'000, 200)));
  ASSERT_TRUE(database_.add(point(kNow, 100)));
  const auto points = database_.heat(UnixMillis{kNow}, UnixMillis{kNow + kHour}, 100);
  ASSERT_TRUE(points);
  const std::vector<HeatPoint> want{point(kNow, 100), point(kNow + 10'000, 200)};
  EXPECT_EQ(*points, want);
}

TEST_F(DatabaseTest, HeatIsBoundedByItsTimes) {
  ASSERT_TRUE(database_.add(point(kNow, 100)));
  EXPECT_TRUE(database_.heat(UnixMillis{kNow + 1}, UnixMillis{kNow + kHour}, 100)->empty());
  EXPECT_TRUE(database_.heat(UnixMillis{0}, UnixMillis{kNow}, 100)->empty());
  EXPECT_EQ(database_.heat(UnixMillis{0}, UnixMillis{kNow + 1}, 100)->size(), 1U);
}

TEST_F(DatabaseTest, ThinsLongAnswers) {
  for (int step = 0; step < 50; ++step) ASSERT_TRUE(database_.add(point(kNow + step * 10'000, 1)));
  EXPECT_EQ(database_.heat(UnixMillis{0}, UnixMillis{kNow + kHour}, 10)->size(), 10U);
}

TEST_F(DatabaseTest, SurvivesBeingOpenedAgain) {
  ASSERT_TRUE(database_.add(point(kNow, 100)));
  ASSERT_TRUE(database_.add(UnixMillis{kNow}, "{}"));
  Result<Database> again = Database::open(path(), std::uint64_t{64} << 20U);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->heat(UnixMillis{0}, UnixMillis{kNow + 1}, 10)->size(), 1U);
  EXPECT_EQ(again->decisions(UnixMillis{0}, 10)->size(), 1U);
}

TEST_F(DatabaseTest, GivesTheNewestDecisionsOldestFirst) {
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(database_.add(UnixMillis{kNow + step}, "{\"step\":" + std::to_string(step) + "}"));
  }
  const auto decisions = database_.decisions(UnixMillis{kNow + 1}, 3);
  ASSERT_TRUE(decisions);
  ASSERT_EQ(decisions->size(), 3U);
  EXPECT_EQ(decisions->front().body, "{\"step\":2}");
  EXPECT_EQ(decisions->back().body, "{\"step\":4}");
  EXPECT_LT(decisions->front().number, decisions->back().number);
}

TEST_F(DatabaseTest, OldHeatBecomesCoarserAndKeepsItsMean) {
  const std::int64_t old = kNow - 3 * kHour;
  for (int step = 0; step < 6; ++step) {
    ASSERT_TRUE(database_.add(point(old + step * 10'000, 600)));
  }
  ASSERT_TRUE(database_.add(point(kNow - kHour, 7)));  // young: stays as it is
  ASSERT_TRUE(database_.prune(UnixMillis{kNow}));
  const auto points = database_.heat(UnixMillis{0}, UnixMillis{kNow}, 100);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ(points->front().at, UnixMillis{old});
  EXPECT_EQ(points->front().covers, milliseconds{60'000});
  EXPECT_EQ(points->front().nodes[0].load, 600U);
  EXPECT_EQ(points->back().covers, milliseconds{10'000});
}

TEST_F(DatabaseTest, MissingTimesCountAsNoLoad) {
  ASSERT_TRUE(database_.add(point(kNow - 3 * kHour, 600)));
  ASSERT_TRUE(database_.prune(UnixMillis{kNow}));
  EXPECT_EQ(database_.heat(UnixMillis{0}, UnixMillis{kNow}, 10)->front().nodes[0].load, 100U);
}

TEST_F(DatabaseTest, AWeekIsKeptInTenMinutesAndNoLonger) {
  ASSERT_TRUE(database_.add(point(kNow - 30 * kHour, 6'000)));
  ASSERT_TRUE(database_.add(point(kNow - 8 * 24 * kHour, 6'000)));
  ASSERT_TRUE(database_.add(UnixMillis{kNow - 8 * 24 * kHour}, "old"));
  ASSERT_TRUE(database_.prune(UnixMillis{kNow}));
  const auto points = database_.heat(UnixMillis{0}, UnixMillis{kNow}, 10);
  ASSERT_EQ(points->size(), 1U);
  EXPECT_EQ(points->front().covers, milliseconds{600'000});
  EXPECT_EQ(points->front().nodes[0].load, 100U);
  EXPECT_TRUE(database_.decisions(UnixMillis{0}, 10)->empty());
}

TEST_F(DatabaseTest, PruningTwiceChangesNothing) {
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE(database_.add(point(kNow - 30 * kHour + step * 10'000, 600)));
  }
  ASSERT_TRUE(database_.prune(UnixMillis{kNow}));
  const auto once = database_.heat(UnixMillis{0}, UnixMillis{kNow}, 100);
  ASSERT_TRUE(database_.prune(UnixMillis{kNow}));
  EXPECT_EQ(*database_.heat(UnixMillis{0}, UnixMillis{kNow}, 100), *once);
}

TEST_F(HistoryTest, AFullFileLosesItsOldestFirst) {
  Result<Database> database = Database::open(path(), 64 * 4'096);
  ASSERT_TRUE(database);
  const std::string body(2'000, 'x');
  for (int step = 0; step < 500; ++step) {
    const auto added = database->add(UnixMillis{kNow + step}, body);
    ASSERT_TRUE(added) << step << ": " << added.error().message;
  }
  const auto kept = database->decisions(UnixMillis{0}, 1'000);
  ASSERT_TRUE(kept);
  EXPECT_LT(kept->size(), 130U);
  EXPECT_GT(kept->size(), 20U);
  EXPECT_EQ(kept->back().at, UnixMillis{kNow + 499});
  EXPECT_LE(std::filesystem::file_size(path()), 64U * 4'096U);
}

TEST_F(HistoryTest, ADecisionLargerThanTheFileIsRefusedAsFull) {
  Result<Database> database = Database::open(path(), 64 * 4'096);
  ASSERT_TRUE(database);
  const auto added = database->add(UnixMillis{kNow}, std::string(1'000'000, 'x'));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::kExhausted);
  EXPECT_NE(added.error().message.find(path()), std::string::npos);
}

TEST_F(HistoryTest, AnotherProgramsFileIsRefusedAndLeftAlone) {
  const std::string text(10'000, 'z');
  std::ofstream(path()) << text;
  const Result<Database> database = Database::open(path(), 1 << 20U);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, Code::kInvalid);
  EXPECT_EQ(std::filesystem::file_size(path()), text.size());
}

TEST_F(HistoryTest, AFileOfANewerProgramIsRefused) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &connection), SQLITE_OK);
  sqlite3_exec(connection, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  const Result<Database> database = Database::open(path(), 1 << 20U);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, Code::kInvalid);
  EXPECT_NE(database.error().message.find("version 99"), std::string::npos);
}

// ---- Store ------------------------------------------------------------------------------------

// Collects what is posted, to be run by the test.
class Mailbox {
 public:
  std::function<void(std::function<void()>)> post() {
    return [this](std::function<void()> each) {
      {
        const std::lock_guard lock(mutex_);
        letters_.push_back(std::move(each));
      }
      arrived_.notify_one();
    };
  }

  // Runs letters until `done`; false after ten seconds.
  bool run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::function<void()> letter;
      {
        std::unique_lock lock(mutex_);
        const auto some = [&] { return !letters_.empty(); };
        if (!arrived_.wait_for(lock, seconds{10}, some)) return false;
        letter = std::move(letters_.front());
        letters_.erase(letters_.begin());
      }
      letter();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::function<void()>> letters_;
};

class StoreTest : public HistoryTest {
 protected:
  Store::Options options() { return {.path = path(), .clock = clock_, .post = mailbox_.post()}; }

  SystemClock clock_;
  Mailbox mailbox_;
};

TEST_F(StoreTest, AnswersOnTheCallersLoop) {
  Store store(options());
  const UnixMillis now = clock_.wall_now();
  store.append(point(now.value(), 5));
  store.append_decision(now, "{\"kind\":\"move\"}");
  std::optional<Result<std::vector<HeatPoint>>> heat;
  std::optional<Result<std::vector<StoredDecision>>> decisions;
  store.heat(UnixMillis{0}, UnixMillis{now.value() + 1}, [&](auto answer) { heat = answer; });
  store.decisions(UnixMillis{0}, 10, [&](auto answer) { decisions = answer; });
  ASSERT_TRUE(mailbox_.run_until([&] { return heat && decisions; }));
  ASSERT_TRUE(*heat);
  EXPECT_EQ((*heat)->size(), 1U);
  ASSERT_TRUE(*decisions);
  EXPECT_EQ((**decisions)[0].body, "{\"kind\":\"move\"}");
  EXPECT_EQ(store.dropped(), 0U);
}

TEST_F(StoreTest, WritesWhatWaitsBeforeItEnds) {
  {
    Store store(options());
    for (int step = 0; step < 100; ++step) store.append_decision(clock_.wall_now(), "{}");
  }
  Result<Database> database = Database::open(path(), 1 << 24U);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->decisions(UnixMillis{0}, 1'000)->size(), 100U);
}

TEST_F(StoreTest, TellsATroubleOnceAndGoesOnWithoutHarm) {
  auto broken = options();
  broken.path = directory_ / "missing" / "history.db";
  std::vector<Error> troubles;
  broken.trouble = [&](const Error& error) { troubles.push_back(error); };
  Store store(broken);
  for (int step = 0; step < 20; ++step) store.append_decision(clock_.wall_now(), "{}");
  std::optional<Result<std::vector<StoredDecision>>> answer;
  store.decisions(UnixMillis{0}, 10, [&](auto each) { answer = each; });
  ASSERT_TRUE(mailbox_.run_until([&] { return answer.has_value(); }));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code, Code::kUnavailable);
  EXPECT_EQ(troubles.size(), 1U);
  EXPECT_EQ(store.dropped(), 20U);
}

TEST_F(StoreTest, OpensTheFileAsSoonAsItCan) {
  auto late = options();
  late.path = directory_ / "late" / "history.db";
  late.retry = milliseconds{0};
  Store store(late);
  std::optional<Result<std::vector<StoredDecision>>> answer;
  const auto ask = [&] {
    answer.reset();
    store.decisions(UnixMillis{0}, 10, [&](auto each) { answer = each; });
    return mailbox_.run_until([&] { return answer.has_value(); });
  };
  ASSERT_TRUE(ask());
  EXPECT_FALSE(*answer);
  std::filesystem::create_directories(directory_ / "late");
  ASSERT_TRUE(ask());
  EXPECT_TRUE(*answer);
}

TEST_F(StoreTest, RefusesWhenTooMuchWaits) {
  auto small = options();
  small.queue_max = 0;
  Store store(small);
  store.append_decision(clock_.wall_now(), "{}");
  EXPECT_EQ(store.dropped(), 1U);
  std::optional<Result<std::vector<HeatPoint>>> answer;
  store.heat(UnixMillis{0}, UnixMillis{1}, [&](auto each) { answer = each; });
  ASSERT_TRUE(mailbox_.run_until([&] { return answer.has_value(); }));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code, Code::kExhausted);
}

// ---- HeatPoint --------------------------------------------------------------------------------

TEST(HeatPoint, SharesRangesOutByTokensAndElseByWidth) {
  heat::Picture picture;
  const std::uint64_t strip = std::uint64_t{1} << 58U;
  const auto range = [&](std::uint64_t first, std::uint64_t last, std::uint64_t load) {
    return heat::RangeLoad{.range = {Token{first}, Token{last}},
                           .node = NodeId{1},
                           .load = {.mean = load},
                           .requests = 100,
                           .writes = 10};
  };
  picture.ranges = {range(0, 2 * strip - 1, 1'000), range(2 * strip, 4 * strip - 1, 1'000)};
  picture.tokens = {{Token{3 * strip + 5}, 700, 9}};
  picture.nodes = {{.node = NodeId{1}, .load = {.mean = 2'000}, .requests = 200, .writes = 20},
                   {.node = NodeId{2}}};
  const HeatPoint seen = point_of(picture, UnixMillis{5});
  const std::vector<HeatValue> nodes{{1, 2'000, 200, 20}};
  const std::vector<HeatValue> strips{{0, 500, 50, 5}, {1, 500, 50, 5}, {3, 1'000, 100, 10}};
  EXPECT_EQ(seen.nodes, nodes);
  EXPECT_EQ(seen.strips, strips);
  EXPECT_EQ(seen.at, UnixMillis{5});
}

TEST(HeatPoint, TheWholeRingFillsEveryStrip) {
  heat::Picture picture;
  picture.ranges = {
      {.range = {ring::kFirstToken, ring::kLastToken}, .node = NodeId{1}, .load = {.mean = 6'400}}};
  const HeatPoint seen = point_of(picture, UnixMillis{5});
  ASSERT_EQ(seen.strips.size(), kStrips);
  for (const HeatValue& each : seen.strips) EXPECT_EQ(each.load, 100U);
}

}  // namespace
}  // namespace cleave::history
