// Where relative paths of a configuration begin, in a folder that is not the working directory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/config/config.h"
#include "supervise/temporary_directory.h"

namespace cleave::app {
namespace {

namespace fs = std::filesystem;

class ConfigPaths : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(etc_);
    fs::create_directories(work_);
    before_ = fs::current_path();
    fs::current_path(work_);
    write(etc_ / "cleave.yaml",
          "listeners: [{address: 127.0.0.1:0, pool: main}]\n"
          "pools: [{name: main, nodes: [{name: a, members: [{address: 127.0.0.1:1}]}]}]\n"
          "coordination: {path: data/ring.db}\n");
  }
  void TearDown() override { fs::current_path(before_); }
  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  supervise::TemporaryDirectory directory_;
  fs::path etc_ = fs::path(directory_.path()) / "etc";
  fs::path work_ = fs::path(directory_.path()) / "work";
  fs::path before_;
};

TEST_F(ConfigPaths, BeginAtTheFolderOfTheFile) {
  for (const std::string& file :
       {(etc_ / "cleave.yaml").string(), std::string("../etc/cleave.yaml")}) {
    const auto config = load_config(file);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->coordination.path, (etc_ / "data/ring.db").string()) << file;
    EXPECT_EQ(config->coordination.saved_rings, (etc_ / "data/ring.db.rings").string());
    EXPECT_EQ(config->history_path, (etc_ / "data/ring.db.history").string());
  }
}

TEST_F(ConfigPaths, AreLeftAloneWhereTheyAreWhole) {
  write(etc_ / "cleave.yaml",
        "listeners: [{address: 127.0.0.1:0, pool: main}]\n"
        "pools: [{name: main, nodes: [{name: a, members: [{address: 127.0.0.1:1}]}]}]\n"
        "coordination: {path: /somewhere/ring.db, saved_rings: /else/where}\n");
  const auto config = load_config((etc_ / "cleave.yaml").string());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->coordination.path, "/somewhere/ring.db");
  EXPECT_EQ(config->coordination.saved_rings, "/else/where");
}

// As older versions had it: the ring must not be taken for lost, or begun anew, for a word.
TEST_F(ConfigPaths, ARingInTheWorkingDirectoryIsToldOf) {
  write(work_ / "data/ring.db", "");
  const auto refused = load_config((etc_ / "cleave.yaml").string());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find((work_ / "data/ring.db").string()), std::string::npos)
      << refused.error().message;
  write(etc_ / "data/ring.db", "");
  EXPECT_TRUE(load_config((etc_ / "cleave.yaml").string())) << "it was moved there";
}

}  // namespace
}  // namespace cleave::app
