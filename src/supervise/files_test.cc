#include "supervise/files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "supervise/node_files.h"
#include "supervise/temporary_directory.h"

namespace cleave::supervise {
namespace {

TEST(WriteFile, ReplacesAndReadsBack) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  EXPECT_EQ(read_file(path).error().code, Code::kNotFound);
  ASSERT_TRUE(write_file(path, "one"));
  ASSERT_TRUE(write_file(path, "two\n"));
  EXPECT_EQ(read_file(path), "two\n");
}

TEST(WriteFile, AFailureNamesTheFileAndLeavesTheOld) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  ASSERT_TRUE(write_file(path, "old"));
  // As a full disk does: the file system takes no more bytes.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Result<void> failed = write_file(path, "new");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kUnavailable);
  EXPECT_NE(failed.error().message.find(path), std::string::npos) << failed.error().message;
  EXPECT_EQ(read_file(path), "old");
}

TEST(MakeDirectory, BelowAFileIsAClearError) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_file(directory.path() + "/file", ""));
  const Result<void> failed = make_directory(directory.path() + "/file/below");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("/file/below: Not a directory"), std::string::npos)
      << failed.error().message;
}

TEST(DirectoryLockTest, TheSecondIsToldWhoHasIt) {
  const TemporaryDirectory directory;
  {
    const auto first = DirectoryLock::take(directory.path());
    ASSERT_TRUE(first) << first.error().message;
    const auto second = DirectoryLock::take(directory.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kConflict);
    EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid()) + ":"),
              std::string::npos)
        << second.error().message;
  }
  EXPECT_TRUE(DirectoryLock::take(directory.path())) << "released";
}

TEST(NodeFilesTest, NamesThatAreNoFileNamesAreRefused) {
  const TemporaryDirectory directory;
  for (const std::string name : {"", ".", "..", "a/b", "a b", "ä", "a\n", "a."}) {
    const auto files = make_node_files(directory.path(), name);
    ASSERT_FALSE(files) << name;
    EXPECT_EQ(files.error().code, Code::kInvalid);
  }
  EXPECT_FALSE(make_node_files(directory.path(), std::string(65, 'a')));
  EXPECT_TRUE(make_node_files(directory.path(), std::string(64, 'a')));
}

TEST(NodeFilesTest, PortsAreRememberedAndNotGivenTwice) {
  const TemporaryDirectory directory;
  const auto a = make_node_files(directory.path(), "a");
  const auto b = make_node_files(directory.path(), "b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(remembered_port(*a).error().code, Code::kNotFound);
  const auto first = find_free_port(20'000, given_ports(directory.path()));
  ASSERT_TRUE(first);
  ASSERT_TRUE(remember_port(*a, *first));
  EXPECT_EQ(remembered_port(*a), *first);
  const auto second = find_free_port(*first, given_ports(directory.path()));
  ASSERT_TRUE(second);
  EXPECT_GT(*second, *first) << "given to a, though nobody listens on it";
  EXPECT_EQ(known_nodes(directory.path()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(known_nodes(directory.path() + "/missing"), std::vector<std::string>{});
}

TEST(NodeFilesTest, AnUnreadablePortIsAClearError) {
  const TemporaryDirectory directory;
  const auto files = make_node_files(directory.path(), "a");
  ASSERT_TRUE(files);
  for (const std::string text : {"", "0", "70000", "7001x", "-1"}) {
    ASSERT_TRUE(write_file(files->port, text));
    const auto port = remembered_port(*files);
    ASSERT_FALSE(port) << text;
    EXPECT_EQ(port.error().code, Code::kInvalid);
    EXPECT_NE(port.error().message.find(files->port), std::string::npos);
  }
}

}  // namespace
}  // namespace cleave::supervise
