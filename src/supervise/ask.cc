#include "supervise/ask.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "net/unique_fd.h"

namespace cleave::supervise {
namespace {

using Strings = std::vector<std::string>;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20U;

// Reads one RESP2 answer; nullopt: it is not all there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Result<Strings>> read() {
    Strings strings;
    std::optional<Result<void>> done = read_into(strings, 0);
    if (!done) return std::nullopt;
    if (!*done) return std::unexpected(done->error());
    return strings;
  }

 private:
  std::optional<Result<void>> read_into(Strings& strings, int depth);
  std::optional<Result<void>> read_bulk(Strings& strings, std::int64_t size);

  std::string_view bytes_;
};

Result<void> not_resp() { return fail(Code::kInvalid, "the answer is not RESP"); }

std::optional<Result<void>> Reader::read_into(Strings& strings, int depth) {
  const std::size_t end = bytes_.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  if (end == 0 || depth > 4) return not_resp();
  const char kind = bytes_[0];
  const std::string_view text = bytes_.substr(1, end - 1);
  bytes_.remove_prefix(end + 2);
  std::int64_t number = 0;
  if (kind == '$' || kind == '*' || kind == ':') {
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || stop != text.data() + text.size()) return not_resp();
  }
  switch (kind) {
    case '-': return fail(Code::kInvalid, std::string(text));
    case '+':
    case ':': strings.emplace_back(text); return Result<void>{};
    case '$': return read_bulk(strings, number);
    case '*':
      for (std::int64_t i = 0; i < number; ++i) {
        const auto done = read_into(strings, depth + 1);
        if (!done || !*done) return done;
      }
      return Result<void>{};
    default: return not_resp();
  }
}

std::optional<Result<void>> Reader::read_bulk(Strings& strings, std::int64_t size) {
  if (size < 0) {
    strings.emplace_back();
    return Result<void>{};
  }
  const auto bytes = static_cast<std::size_t>(size);
  if (bytes > kAnswerBytesMax) return not_resp();
  if (bytes_.size() < bytes + 2) return std::nullopt;
  strings.emplace_back(bytes_.substr(0, bytes));
  bytes_.remove_prefix(bytes + 2);
  return Result<void>{};
}

std::string serialize(const Strings& command) {
  std::string bytes = "*" + std::to_string(command.size()) + "\r\n";
  for (const std::string& part : command)
    bytes += "$" + std::to_string(part.size()) + "\r\n" + part + "\r\n";
  return bytes;
}

Error system_error(Code code, std::string_view what) {
  return Error{code, std::string(what) + ": " + std::generic_category().message(errno)};
}

// Waits until the socket is ready for `events`. Errors: kTimeout.
Result<void> await(int fd, short events, SteadyClock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - SteadyClock::now()).count();
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready == 0) return fail(Code::kTimeout, "no answer in time");
    if (errno != EINTR) return std::unexpected(system_error(Code::kUnavailable, "poll"));
  }
}

Result<net::UniqueFd> connect(const net::Address& address, SteadyClock::time_point until) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(address.port);
  if (::inet_pton(AF_INET, address.host.c_str(), &name.sin_addr) != 1)
    return fail(Code::kInvalid, "want a numeric IPv4 address");
  net::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(system_error(Code::kUnavailable, "socket"));
  const auto* generic = reinterpret_cast<const sockaddr*>(&name);
  if (::connect(fd.get(), generic, sizeof(name)) != 0) {
    if (errno == ECONNREFUSED) return fail(Code::kNotFound, "nobody listens there");
    if (errno != EINPROGRESS) return std::unexpected(system_error(Code::kUnavailable, "connect"));
    if (Result<void> ready = await(fd.get(), POLLOUT, until); !ready)
      return std::unexpected(ready.error());
    socklen_t size = sizeof(errno);
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &errno, &size) != 0 || errno != 0)
      return std::unexpected(
          system_error(errno == ECONNREFUSED ? Code::kNotFound : Code::kUnavailable, "connect"));
  }
  return fd;
}

Result<Strings> exchange(int fd, std::string_view bytes, SteadyClock::time_point until) {
  // A question fits the socket's buffer; if it does not, the server is no server of ours.
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    return std::unexpected(system_error(Code::kUnavailable, "send"));
  std::string answer;
  for (;;) {
    if (Result<void> ready = await(fd, POLLIN, until); !ready)
      return std::unexpected(ready.error());
    char piece[4'096];
    const ssize_t count = ::recv(fd, piece, sizeof(piece), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return std::unexpected(system_error(Code::kUnavailable, "receive"));
    if (count == 0) return fail(Code::kUnavailable, "closed without an answer");
    answer.append(piece, static_cast<std::size_t>(count));
    if (std::optional<Result<Strings>> read = Reader(answer).read()) return *read;
    if (answer.size() > kAnswerBytesMax) return fail(Code::kInvalid, "the answer is too long");
  }
}

}  // namespace

Result<std::vector<std::string>> ask(const net::Address& address,
                                     const std::vector<std::string>& command,
                                     milliseconds timeout) {
  const SteadyClock::time_point until = SteadyClock::now() + timeout;
  const Result<net::UniqueFd> fd = connect(address, until);
  const std::string where = net::to_string(address);
  if (!fd) return fail(where, fd.error());
  Result<Strings> answer = exchange(fd->get(), serialize(command), until);
  // An error reply is told as it is, for it is what callers look at.
  if (!answer && answer.error().code != Code::kInvalid) return fail(where, answer.error());
  return answer;
}

}  // namespace cleave::supervise
