#include "supervise/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace cleave::supervise {
namespace {

milliseconds to_ms(const timeval& time) {
  return milliseconds{time.tv_sec * 1'000 + time.tv_usec / 1'000};
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return statm ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t open_files() {
  std::error_code failed;
  const std::filesystem::directory_iterator files("/proc/self/fd", failed);
  if (failed) return 0;
  const auto count = std::distance(begin(files), end(files));
  return count > 0 ? static_cast<std::uint64_t>(count - 1) : 0;  // one is the look itself
}

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return {.cpu = to_ms(usage.ru_utime) + to_ms(usage.ru_stime),
          .resident_bytes = resident_bytes(),
          .open_files = open_files(),
          .open_files_max = files.rlim_cur};
}

}  // namespace cleave::supervise
