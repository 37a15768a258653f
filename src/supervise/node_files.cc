#include "supervise/node_files.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "net/unique_fd.h"
#include "supervise/files.h"

namespace cleave::supervise {
namespace {

constexpr std::size_t kNameMax = 64;
// Linux gives out ports from 32768 by default.
constexpr std::uint16_t kLastPort = 32'767;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

NodeFiles files_of(const std::string& directory, const std::string& name) {
  const std::string own = directory + "/nodes/" + name;
  return NodeFiles{.directory = own,
                   .data = own + "/data",
                   .config = own + "/redis.conf",
                   .log = own + "/redis.log",
                   .pid = own + "/redis.pid",
                   .port = own + "/port"};
}

bool nobody_listens(std::uint16_t port) {
  const net::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // As redis-server does: without it, connections that ended lately would count as taken.
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(port);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
}

// In double quotes, as redis.conf wants a path with blanks.
std::string in_quotes(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

Result<NodeFiles> make_node_files(const std::string& directory, const std::string& name) {
  if (!is_name(name))
    return fail(Code::kInvalid, "node '" + name + "': want 1 to " + std::to_string(kNameMax) +
                                    " letters, digits, '-' or '_'");
  Result<std::string> real = real_path(directory);
  if (!real) return std::unexpected(real.error());
  if (std::ranges::any_of(*real, [](unsigned char c) { return c < ' '; }))
    return fail(Code::kInvalid, "directory " + *real + ": a control character in its name");
  NodeFiles files = files_of(*real, name);
  if (Result<void> made = make_directory(files.data); !made) return std::unexpected(made.error());
  return files;
}

std::vector<std::string> known_nodes(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entries(directory + "/nodes", failed);
  for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
    const std::string name = entries->path().filename().string();
    if (is_name(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<std::uint16_t> remembered_port(const NodeFiles& files) {
  Result<std::string> text = read_file(files.port);
  if (!text) return std::unexpected(text.error());
  std::erase(*text, '\n');
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), port);
  if (failed != std::errc{} || end != text->data() + text->size() || port == 0)
    return fail(Code::kInvalid, files.port + ": want a port number, got '" + *text +
                                    "'; remove the file to have a new port chosen");
  return port;
}

Result<void> remember_port(const NodeFiles& files, std::uint16_t port) {
  return write_file(files.port, std::to_string(port) + "\n");
}

std::set<std::uint16_t> given_ports(const std::string& directory) {
  std::set<std::uint16_t> ports;
  for (const std::string& name : known_nodes(directory)) {
    if (const Result<std::uint16_t> port = remembered_port(files_of(directory, name)))
      ports.insert(*port);
  }
  return ports;
}

Result<std::uint16_t> find_free_port(std::uint16_t first, const std::set<std::uint16_t>& taken) {
  for (std::uint32_t port = first; port <= kLastPort; ++port) {
    const auto candidate = static_cast<std::uint16_t>(port);
    if (!taken.contains(candidate) && nobody_listens(candidate)) return candidate;
  }
  return fail(Code::kUnavailable, "no free port at 127.0.0.1 from " + std::to_string(first) +
                                      " to " + std::to_string(kLastPort));
}

std::string redis_config(const NodeFiles& files, std::uint16_t port) {
  return "# Written by `cleave up` at each start; changes are lost.\n"
         "bind 127.0.0.1\n"
         "protected-mode yes\n"
         "port " +
         std::to_string(port) +
         "\n"
         "daemonize no\n"
         "supervised no\n"
         "dir " +
         in_quotes(files.data) +
         "\n"
         "pidfile " +
         in_quotes(files.pid) +
         "\n"
         "logfile " +
         in_quotes(files.log) +
         "\n"
         "appendonly yes\n"
         "appendfsync everysec\n"
         "save \"\"\n";
}

}  // namespace cleave::supervise
