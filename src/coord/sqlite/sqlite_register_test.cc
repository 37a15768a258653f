#include "coord/sqlite/sqlite_register.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "coord/register_conformance.h"

namespace cleave::coord {
namespace {

// A directory of its own, gone at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = ::testing::TempDir() + "cleave_sqlite_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class SqliteWorld final : public RegisterWorld {
 public:
  std::unique_ptr<Register> attach(net::Loop& loop) override {
    auto made = open_sqlite_register(
        loop, {.path = directory_.file("cleave.db"), .pool = "main", .busy_max = seconds{10}});
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

 private:
  TemporaryDirectory directory_;
};

std::unique_ptr<RegisterWorld> make_sqlite_world() { return std::make_unique<SqliteWorld>(); }

INSTANTIATE_TEST_SUITE_P(Sqlite, RegisterConformance, ::testing::Values(&make_sqlite_world));

class SqliteRegisterTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Register>> open(SqliteOptions options) {
    options.path = options.path.empty() ? path_ : options.path;
    options.pool = options.pool.empty() ? "main" : options.pool;
    return open_sqlite_register(*loop_, std::move(options));
  }
  Result<Epoch> write(Register& at, std::uint64_t expected, std::string text) {
    Result<Epoch> answer = fail(Code::kTimeout, "not answered");
    at.compare_and_set(Epoch{expected}, std::move(text), [&](Result<Epoch> epoch) {
      answer = std::move(epoch);
      loop_->stop();
    });
    run_bounded(*loop_);
    return answer;
  }
  Result<Stored> read(Register& at) {
    Result<Stored> answer = fail(Code::kTimeout, "not answered");
    at.read([&](Result<Stored> stored) {
      answer = std::move(stored);
      loop_->stop();
    });
    run_bounded(*loop_);
    return answer;
  }
  void expect_error(const Error& error, Code code, const std::string& part) {
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_NE(error.message.find(path_), std::string::npos) << error.message;
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("cleave.db");
  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
};

// Another program on the same file.
class RawConnection {
 public:
  explicit RawConnection(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
  }
  ~RawConnection() { sqlite3_close(handle_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  void execute(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sql << ": " << sqlite3_errmsg(handle_);
  }

 private:
  sqlite3* handle_ = nullptr;
};

TEST_F(SqliteRegisterTest, PoolsOfOneFileAreApart) {
  const auto one = open({.pool = "one"});
  const auto two = open({.pool = "two"});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(write(**one, 0, "1"), Epoch{1});
  EXPECT_EQ(write(**two, 0, "2"), Epoch{1});
  EXPECT_EQ(read(**one)->text, "1");
  EXPECT_EQ(read(**two)->text, "2");
}

TEST_F(SqliteRegisterTest, IsDurableInTheFileAlone) {
  {
    const auto one = open({});
    ASSERT_TRUE(one);
    ASSERT_TRUE(write(**one, 0, "text"));
    // What is on the disk at the answer, as after a power cut: the file and its log.
    std::filesystem::copy(path_, directory_.file("copy.db"));
    std::filesystem::copy(path_ + "-wal", directory_.file("copy.db-wal"));
  }
  const auto copy = open({.path = directory_.file("copy.db")});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(read(**copy)->text, "text");
}

TEST_F(SqliteRegisterTest, ManyMayOpenANewFileAtOnce) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = directory_.file("round" + std::to_string(round));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto loop = net::make_loop();
        const auto made =
            open_sqlite_register(*loop, {.path = path, .pool = "main", .busy_max = seconds{10}});
        EXPECT_TRUE(made) << made.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(SqliteRegisterTest, MissingDirectoryIsAClearError) {
  path_ = directory_.file("missing/cleave.db");
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kUnavailable, "its directory must exist");
}

TEST_F(SqliteRegisterTest, ReadOnlyFileIsAClearError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  ASSERT_TRUE(open({}));
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kUnavailable, "writable");
}

TEST_F(SqliteRegisterTest, GarbageIsRefusedAndLeftAlone) {
  const std::string garbage = "this is no database " + std::string(5'000, '?');
  std::ofstream(path_) << garbage;
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kUnavailable, "move the file away");
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), garbage);
}

TEST_F(SqliteRegisterTest, DamageIsAClearError) {
  {
    const auto one = open({});
    ASSERT_TRUE(one);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
      ASSERT_TRUE(write(**one, epoch, std::string(50'000, 'x')));
  }
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);  // behind the header of the file
    file << std::string(20'000, '\xff');
  }
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kUnavailable, "move the file away");
}

TEST_F(SqliteRegisterTest, AnothersDatabaseIsRefused) {
  RawConnection(path_).execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kInvalid, "belongs to another program");
}

TEST_F(SqliteRegisterTest, ANewerFormatIsRefused) {
  ASSERT_TRUE(open({}));
  RawConnection(path_).execute("PRAGMA user_version=99");
  const auto made = open({});
  ASSERT_FALSE(made);
  expect_error(made.error(), Code::kInvalid, "newer");
}

TEST_F(SqliteRegisterTest, FullIsAClearErrorAndWritesNothing) {
  const auto one = open({.bytes_max = 100'000});
  ASSERT_TRUE(one);
  ASSERT_TRUE(write(**one, 0, "small"));
  const auto refused = write(**one, 1, std::string(1'000'000, 'x'));
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Code::kUnavailable, "free space");
  EXPECT_EQ(read(**one)->text, "small");
  EXPECT_EQ(write(**one, 1, "goes on"), Epoch{2});
}

TEST_F(SqliteRegisterTest, LockedByAnotherProcessIsAClearErrorAndPasses) {
  const auto one = open({.busy_max = milliseconds{50}});
  ASSERT_TRUE(one);
  RawConnection other(path_);
  other.execute("BEGIN IMMEDIATE");
  const auto refused = write(**one, 0, "x");
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Code::kUnavailable, "another process holds its lock");
  EXPECT_TRUE(read(**one)) << "reading needs no lock";
  other.execute("ROLLBACK");
  EXPECT_EQ(write(**one, 0, "x"), Epoch{1});
}

TEST_F(SqliteRegisterTest, DestructionDoesNotWaitForALock) {
  auto one = open({.busy_max = seconds{60}});
  ASSERT_TRUE(one);
  RawConnection other(path_);
  other.execute("BEGIN IMMEDIATE");
  (*one)->compare_and_set(Epoch{0}, "x", [](const Result<Epoch>&) { FAIL(); });
  std::this_thread::sleep_for(milliseconds{30});  // the thread waits for the lock now
  const Instant begun = loop_->now();
  one->reset();
  EXPECT_LT(loop_->now() - begun, seconds{5});
}

TEST_F(SqliteRegisterTest, AFullQueueIsAClearError) {
  const auto one = open({.busy_max = seconds{60}, .queue_max = 8});
  ASSERT_TRUE(one);
  RawConnection other(path_);
  other.execute("BEGIN IMMEDIATE");  // so that nothing leaves the queue
  std::vector<Error> refused;
  for (int i = 0; i < 20; ++i) {
    (*one)->compare_and_set(Epoch{0}, "x", [&](const Result<Epoch>& epoch) {
      if (!epoch) refused.push_back(epoch.error());
      loop_->stop();
    });
  }
  run_bounded(*loop_);
  ASSERT_GE(refused.size(), 11U);
  expect_error(refused[0], Code::kUnavailable, "8 calls wait already");
}

// Not our register but a stranger wrote: seen within a few looks.
TEST_F(SqliteRegisterTest, WatchSeesAnotherProcess) {
  const auto one = open({.poll_interval = milliseconds{10}});
  ASSERT_TRUE(one);
  Stored told;
  (*one)->watch([&](const Stored& stored) {
    told = stored;
    loop_->stop();
  });
  loop_->after(milliseconds{50}, [&] {
    RawConnection(path_).execute("UPDATE register SET epoch=1, text='theirs' WHERE pool='main'");
  });
  run_bounded(*loop_);
  EXPECT_EQ(told.text, "theirs");
}

}  // namespace
}  // namespace cleave::coord
