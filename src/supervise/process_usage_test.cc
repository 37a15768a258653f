#include "supervise/process_usage.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cleave::supervise {
namespace {

TEST(ProcessUsage, IsPlausibleAndSeesAnOpenFile) {
  const ProcessUsage before = process_usage();
  EXPECT_GT(before.resident_bytes, 1'000'000U);
  EXPECT_GE(before.open_files, 3U);
  EXPECT_GT(before.open_files_max, before.open_files);
  const std::ifstream file("/proc/self/stat");
  EXPECT_EQ(process_usage().open_files, before.open_files + 1);
}

}  // namespace
}  // namespace cleave::supervise
