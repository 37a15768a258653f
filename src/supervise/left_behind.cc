#include "supervise/left_behind.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/to_number.h"
#include "supervise/files.h"
#include "supervise/node_files.h"
#include "supervise/process.h"

namespace cleave::supervise {
namespace {

constexpr milliseconds kEndStep{10};

// One that runs, and whose it is.
struct Left {
  std::string node;
  Process process;
};

// The name of the program, at most 15 characters (proc(5)).
bool is_server(int pid) {
  const Result<std::string> name = read_file("/proc/" + std::to_string(pid) + "/comm");
  return name && (name->starts_with("redis-server") || name->starts_with("valkey-server"));
}

bool works_in(int pid, const std::string& directory) {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/cwd", failed);
  return !failed && path.string() == directory;
}

// Whether the process had begun when the file was written. Both are set against now: the file by
// the wall clock, the process by the time since boot. A second is left for the rounding of both.
bool began_before(const Process& process, const std::string& file) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(file, failed);
  const Result<std::string> uptime = read_file("/proc/uptime");
  if (failed || !uptime) return false;
  const auto up = to_number<std::uint64_t>(uptime->substr(0, uptime->find('.')));
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  if (!up || ticks == 0) return false;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(
      std::filesystem::file_time_type::clock::now() - written);
  const auto running =
      static_cast<std::int64_t>(*up) - static_cast<std::int64_t>(process.started / ticks);
  return running + 1 >= age.count();
}

std::optional<Process> server_of(const NodeFiles& files) {
  const Result<std::string> text = read_file(files.pid);
  if (!text) return std::nullopt;
  const auto pid = to_number<int>(std::string_view(*text).substr(0, text->find('\n')));
  if (!pid || *pid <= 1) return std::nullopt;
  const Result<Process> process = find_process(*pid);
  if (!process || !is_server(*pid) || !works_in(*pid, files.data)) return std::nullopt;
  if (!began_before(*process, files.pid)) return std::nullopt;
  return *process;
}

void signal_all(const std::vector<Left>& all, int signal) {
  for (const Left& left : all) send_signal(left.process, signal);
}

bool await_end(const std::vector<Left>& all, milliseconds most) {
  const SystemClock clock;
  const Instant until = clock.now() + most;
  const auto ended = [](const Left& left) { return how_it_ended(left.process).has_value(); };
  while (!std::ranges::all_of(all, ended)) {
    if (clock.now() >= until) return false;
    std::this_thread::sleep_for(kEndStep);
  }
  return true;
}

}  // namespace

Result<std::vector<std::string>> end_left_behind(const LeftBehindOptions& options) {
  const std::vector<std::string> names = known_nodes(options.directory);
  if (names.empty())
    return fail(Code::kNotFound,
                "'" + options.directory + "' is no directory of a `cleave up`; name it with --dir");
  const Result<std::string> directory = real_path(options.directory);
  if (!directory) return std::unexpected(directory.error());
  const Result<DirectoryLock> lock = DirectoryLock::take(*directory);
  if (!lock)
    return fail(lock.error().code, lock.error().message + "; Ctrl-C there ends its servers too");
  std::vector<Left> all;
  for (const std::string& name : names) {
    const Result<NodeFiles> files = make_node_files(*directory, name);
    if (!files) return std::unexpected(files.error());
    if (const std::optional<Process> process = server_of(*files))
      all.push_back({.node = name, .process = *process});
  }
  // One that was stopped in between takes a SIGTERM only when it goes on.
  signal_all(all, SIGTERM);
  signal_all(all, SIGCONT);
  if (!await_end(all, options.stop_max)) {
    options.log("some servers still run after SIGTERM, sending SIGKILL");
    signal_all(all, SIGKILL);
    if (!await_end(all, options.stop_max))
      return fail(Code::kTimeout, "some servers run on even after SIGKILL");
  }
  std::vector<std::string> ended;
  for (const Left& left : all) ended.push_back(left.node);
  return ended;
}

}  // namespace cleave::supervise
