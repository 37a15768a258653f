#include "supervise/server.h"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "supervise/ask.h"
#include "supervise/files.h"

namespace cleave::supervise {
namespace {

constexpr milliseconds kAnswerMax{500};
constexpr std::uintmax_t kLogTailBytes = 600;
// DUMP and RESTORE ABSTTL, OBJECT FREQ and CLIENT KILL as the moves need them.
constexpr int kMajorMin = 6;
constexpr int kMinorMin = 2;

std::string info_field(std::string_view info, std::string_view name) {
  const std::string key = std::string(name) + ":";
  std::size_t at = info.starts_with(key) ? 0 : info.find("\n" + key);
  if (at == std::string_view::npos) return {};
  at += key.size() + (at == 0 ? 0 : 1);
  return std::string(info.substr(at, info.find('\r', at) - at));
}

}  // namespace

bool new_enough(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc{} || first.ptr == end) return false;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc{}) return false;
  return major > kMajorMin || (major == kMajorMin && minor >= kMinorMin);
}

Result<Server> Server::prepare(const Children::Options& options, const std::string& directory,
                               const std::string& name) {
  Result<NodeFiles> files = make_node_files(directory, name);
  if (!files) return std::unexpected(files.error());
  Server server(directory, std::move(*files));
  server.child_.name = name;
  server.child_.address.host = "127.0.0.1";
  const Result<std::uint16_t> port = remembered_port(server.files_);
  if (port) {
    server.child_.address.port = *port;
    return server;
  }
  if (port.error().code != Code::kNotFound) return std::unexpected(port.error());
  if (Result<void> taken = server.take_port(options.first_port); !taken)
    return std::unexpected(taken.error());
  return server;
}

Result<void> Server::take_port(std::uint16_t first) {
  const Result<std::uint16_t> port = find_free_port(first, given_ports(root_));
  if (!port) return std::unexpected(port.error());
  child_.address.port = *port;
  port_is_new_ = true;
  return remember_port(files_, *port);
}

Result<bool> Server::adopt() {
  const auto directory = ask(child_.address, {"CONFIG", "GET", "dir"}, kAnswerMax);
  if (!directory && directory.error().code == Code::kNotFound) return false;
  const bool ours = directory && directory->size() == 2 && (*directory)[1] == files_.data;
  if (!ours)
    return fail(Code::kConflict, "node " + child_.name + ": what listens at " +
                                     net::to_string(child_.address) + " is not our server" +
                                     (directory ? "" : " (" + directory.error().message + ")") +
                                     ": stop that program, or remove " + files_.port +
                                     " to have a new port chosen");
  const auto info = ask(child_.address, {"INFO", "server"}, kAnswerMax);
  if (!info || info->empty())
    return fail("node " + child_.name, info ? Error{Code::kInvalid, "no INFO"} : info.error());
  int pid = 0;
  const std::string text = info_field(info->front(), "process_id");
  std::from_chars(text.data(), text.data() + text.size(), pid);
  const Result<Process> process = find_process(pid);
  if (!process) return fail("node " + child_.name, process.error());
  process_ = *process;
  child_.pid = pid;
  child_.adopted = true;
  return true;
}

Result<void> Server::spawn(const std::string& program) {
  const std::string text = redis_config(files_, child_.address.port);
  if (Result<void> written = write_file(files_.config, text); !written) return written;
  std::error_code absent;
  const std::uintmax_t size = std::filesystem::file_size(files_.log, absent);
  log_begin_ = absent ? 0 : size;
  const Result<Process> process = spawn_detached({program, files_.config}, files_.log);
  if (!process) return fail("node " + child_.name, process.error());
  process_ = *process;
  child_.pid = process->pid;
  child_.adopted = false;
  return {};
}

Result<bool> Server::ready() {
  if (const std::optional<std::string> how = death())
    return fail(Code::kUnavailable, "node " + child_.name + ": redis-server " + *how);
  const auto pong = ask(child_.address, {"PING"}, kAnswerMax);
  if (!pong || *pong != std::vector<std::string>{"PONG"}) return false;  // it reads its data
  const auto info = ask(child_.address, {"INFO", "server"}, kAnswerMax);
  if (!info || info->empty()) return false;
  // Another program may have taken the port a moment before: then ours is about to end.
  if (info_field(info->front(), "process_id") != std::to_string(child_.pid)) return false;
  const std::string version = info_field(info->front(), "redis_version");
  if (!new_enough(version))
    return fail(Code::kInvalid, "node " + child_.name + ": redis-server " + version +
                                    " is too old; want 6.2 or newer");
  return true;
}

Result<bool> Server::choose_again() {
  if (!port_is_new_ || log_tail().find("already in use") == std::string::npos) return false;
  if (Result<void> taken = take_port(static_cast<std::uint16_t>(child_.address.port + 1)); !taken)
    return std::unexpected(taken.error());
  return true;
}

std::optional<std::string> Server::death() const {
  std::optional<std::string> how = how_it_ended(process_);
  if (!how) return std::nullopt;
  const std::string tail = log_tail();
  return *how + "; " + files_.log + (tail.empty() ? " says nothing" : " ends with:\n" + tail);
}

std::string Server::log_tail() const {
  std::ifstream log(files_.log, std::ios::binary | std::ios::ate);
  if (!log) return {};
  const auto size = static_cast<std::uintmax_t>(log.tellg());
  if (size <= log_begin_) return {};
  const std::uintmax_t begin = std::max(log_begin_, size - std::min(size, kLogTailBytes));
  log.seekg(static_cast<std::streamoff>(begin));
  std::string tail(static_cast<std::size_t>(size - begin), '\0');
  log.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  tail.resize(static_cast<std::size_t>(log.gcount()));
  // Whole lines only.
  if (begin > log_begin_) tail.erase(0, tail.find('\n') + 1);
  while (tail.ends_with('\n')) tail.pop_back();
  return tail;
}

}  // namespace cleave::supervise
