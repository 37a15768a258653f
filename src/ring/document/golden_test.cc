// The one place that rewrites golden files (ring/edits/ring_testing.h).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ring/edits/ring_testing.h"

namespace cleave::ring::testing {

std::string golden(const std::string& path, const std::string& actual) {
  const char* rewrite = std::getenv("CLEAVE_GOLDEN_REWRITE");
  if (rewrite != nullptr && std::string(rewrite) == "1") {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << actual;
  }
  return read_file(path);
}

namespace {

TEST(Golden, IsRewrittenOnlyWhenToldTo) {
  const char* told = std::getenv("CLEAVE_GOLDEN_REWRITE");
  const std::string path = ::testing::TempDir() + "/cleave_golden_test.txt";
  std::ofstream(path, std::ios::trunc) << "old";
  EXPECT_EQ(golden(path, "new"), told != nullptr && std::string(told) == "1" ? "new" : "old");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cleave::ring::testing
