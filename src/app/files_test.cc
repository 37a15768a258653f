#include "app/files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace cleave::app {
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest()
      : folder_(testing::TempDir() + "cleave_files_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }

  static bool is_the_owners(const std::string& path) {
    using std::filesystem::perms;
    return std::filesystem::status(path).permissions() == (perms::owner_read | perms::owner_write);
  }

  std::string folder_;
};

TEST_F(FilesTest, AFolderIsNoFile) {
  for (const std::string& path : {folder_, folder_ + "/", std::string("/")}) {
    const auto text = read_file(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().code, Code::kNotFound);
    EXPECT_EQ(text.error().message, path + ": cannot be read: it is a folder, want a file");
    EXPECT_FALSE(open_file(path));
  }
  EXPECT_EQ(read_file(folder_ + "/none").error().message,
            folder_ + "/none: cannot be read: No such file or directory");
}

TEST_F(FilesTest, SecretsAreTheOwnersAndNothingIsOverwrittenUnasked) {
  const std::string path = folder_ + "/cleave.yaml";
  ASSERT_TRUE(write_file(path, "one", Secrets::kSome, Overwrite::kNo));
  EXPECT_TRUE(is_the_owners(path));
  const auto again = write_file(path, "two", Secrets::kSome, Overwrite::kNo);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_NE(again.error().message.find("--force"), std::string::npos);
  EXPECT_EQ(read_file(path), "one");
  std::filesystem::permissions(path, std::filesystem::perms::all);
  ASSERT_TRUE(write_file(path, "3", Secrets::kSome, Overwrite::kYes));
  EXPECT_EQ(read_file(path), "3");
  EXPECT_TRUE(is_the_owners(path)) << "also where it was open to all before";
}

TEST_F(FilesTest, AFolderCannotBeWritten) {
  EXPECT_FALSE(write_file(folder_, "x", Secrets::kNone, Overwrite::kYes));
  EXPECT_FALSE(write_file(folder_ + "/none/x", "x", Secrets::kNone, Overwrite::kYes));
}

TEST_F(FilesTest, WhatIsNoFileIsWrittenTo) {
  EXPECT_TRUE(write_file("/dev/null", "x", Secrets::kSome, Overwrite::kNo));
}

}  // namespace
}  // namespace cleave::app
