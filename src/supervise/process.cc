#include "supervise/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <system_error>

#include "supervise/files.h"

extern char** environ;

namespace cleave::supervise {
namespace {

// The fields of /proc/<pid>/stat behind the name, which may itself hold blanks and parentheses.
struct Stat {
  char state = '?';
  std::uint64_t started = 0;
};

std::optional<Stat> read_stat(int pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  Stat stat{.state = rest[0]};
  // The state is field 3 of proc(5), the start time field 22.
  for (int field = 3; field < 22; ++field) {
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(blank + 1);
  }
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), stat.started);
  if (failed != std::errc{}) return std::nullopt;
  return stat;
}

// Owns what posix_spawn wants initialised and destroyed.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

void detach(SpawnSettings& settings, const std::string& output_path) {
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  auto* actions = &settings.actions;
  posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, output_path.c_str(), kAppend, 0600);
  posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0) return name;
    return fail(Code::kNotFound, name + ": no such program");
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    if (directory.empty()) continue;
    std::string candidate = std::string(directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return fail(Code::kNotFound, name + ": not found in PATH");
}

Result<Process> spawn_detached(const std::vector<std::string>& arguments,
                               const std::string& output_path) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));  // exec's old interface
  pointers.push_back(nullptr);
  SpawnSettings settings;
  detach(settings, output_path);
  int pid = 0;
  const int failed = ::posix_spawn(&pid, pointers[0], &settings.actions, &settings.attributes,
                                   pointers.data(), environ);
  if (failed != 0)
    return fail(Code::kUnavailable, "cannot start " + arguments[0] + " (output to " + output_path +
                                        "): " + std::generic_category().message(failed));
  // Until we reap it its entry stays, even if it has ended already.
  const std::optional<Stat> stat = read_stat(pid);
  return Process{.pid = pid, .started = stat ? stat->started : 0};
}

Result<Process> find_process(int pid) {
  const std::optional<Stat> stat = read_stat(pid);
  if (!stat || stat->state == 'Z')
    return fail(Code::kNotFound, "process " + std::to_string(pid) + " does not run");
  return Process{.pid = pid, .started = stat->started};
}

std::optional<std::string> how_it_ended(const Process& process) {
  if (process.pid <= 0) return "was not started";
  const std::optional<Stat> stat = read_stat(process.pid);
  if (!stat || stat->started != process.started) return "gone";
  int status = 0;
  if (stat->state != 'Z' || ::waitpid(process.pid, &status, WNOHANG) != process.pid)
    return stat->state == 'Z' ? std::optional<std::string>("gone") : std::nullopt;
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

void send_signal(const Process& process, int signal) {
  if (!how_it_ended(process)) ::kill(process.pid, signal);
}

}  // namespace cleave::supervise
