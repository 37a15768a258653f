// What tests against real servers share: a redis-server in a temporary directory, a blocking
// client, and a loop that runs until something has happened. Loopback, free ports.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/pipe.h"
#include "net/asio_loop.h"
#include "net/free_port_testing.h"
#include "wire/resp.h"

namespace cleave::backend {

// Runs the loop until `done`, looked at each millisecond; a failure when that takes too long.
inline void run_until(net::AsioLoop& loop, const std::function<bool()>& done,
                      seconds most = seconds{20}) {
  const Instant end = loop.now() + most;
  std::function<void()> look = [&] {
    if (done()) return loop.stop();
    if (loop.now() > end) {
      ADD_FAILURE() << "it did not happen in time";
      return loop.stop();
    }
    loop.after(milliseconds{1}, [&] { look(); });
  };
  look();
  loop.run();
}

// Waits on another thread's work.
inline bool eventually(const std::function<bool()>& done, seconds most = seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds{2});
  }
  return true;
}

// Every connection may be used at once.
class OpenGate final : public Gate {
 public:
  explicit OpenGate(net::Loop& loop) : loop_(loop) {}
  const SessionId& session() const override { return session_; }
  void confirm(std::function<void(Result<void>)> done) override {
    loop_.post([done] { done({}); });
  }

 private:
  net::Loop& loop_;
  SessionId session_{"test"};
};

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A blocking connection that speaks raw bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    timeval most{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    sockaddr_in address = loopback(port);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        pending_(std::move(other.pending_)) {}

  bool connected() const { return connected_; }

  // Sends no more; still reads.
  void half_close() const { ::shutdown(fd_, SHUT_WR); }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  // False when the other side is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next whole reply as received; empty at the end of the stream or after 10 s.
  std::string read_raw() {
    wire::ReplyScanner scanner{Limits{}};
    for (;;) {
      const Result<std::size_t> size = scanner.scan(pending_);
      if (!size) return {};
      if (*size > 0) {
        std::string reply = pending_.substr(0, *size);
        pending_.erase(0, *size);
        return reply;
      }
      if (!receive()) return {};
    }
  }

  wire::Reply read() {
    const std::string raw = read_raw();
    if (raw.empty()) return {.type = wire::Reply::Type::kError, .text = "(closed)"};
    return *wire::parse_reply(raw);
  }

  wire::Reply call(std::initializer_list<std::string_view> args) {
    send(wire::command(args));
    return read();
  }
  // What most tests look at: the text, the number as text, "(nil)", or "-" and the error's text.
  std::string ask(std::initializer_list<std::string_view> args) { return text(call(args)); }

  static std::string text(const wire::Reply& reply) {
    switch (reply.type) {
      case wire::Reply::Type::kStatus:
      case wire::Reply::Type::kBulk: return reply.text;
      case wire::Reply::Type::kError: return "-" + reply.text;
      case wire::Reply::Type::kInteger: return std::to_string(reply.integer);
      case wire::Reply::Type::kNull: return "(nil)";
      case wire::Reply::Type::kArray: break;
    }
    std::string all = "[";
    for (const wire::Reply& element : reply.elements) {
      if (all.size() > 1) all += " ";
      all += text(element);
    }
    return all + "]";
  }

  // True once the other side has closed (waits at most 10 s); what comes before is passed over.
  bool closed_by_peer() {
    while (receive()) pending_.clear();
    return at_end_;
  }

 private:
  bool receive() {
    char buffer[65'536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    at_end_ = got == 0 || (got < 0 && errno == ECONNRESET);
    if (got <= 0) return false;
    pending_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool at_end_ = false;
  std::string pending_;
};

// A real redis-server that dies with the object.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> extra = {})
      : port_(net::free_port()), extra_(std::move(extra)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "cleave-redis-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    start();
  }
  ~RedisServer() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  void start() {
    std::vector<std::string> args{
        "redis-server", "--port",    std::to_string(port_), "--bind",      "127.0.0.1",
        "--save",       "",          "--appendonly",        "no",          "--dir",
        directory_,     "--logfile", directory_ + "/log",   "--daemonize", "no"};
    args.insert(args.end(), extra_.begin(), extra_.end());
    std::vector<char*> raw;
    for (std::string& arg : args) raw.push_back(arg.data());
    raw.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a crashed test leaves no server behind
      const int null = ::open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) ::dup2(null, fd);
      ::execvp("redis-server", raw.data());
      ::_exit(127);
    }
    ASSERT_GT(pid_, 0);
    ASSERT_TRUE(eventually([&] { return RawClient(port_).connected(); }));
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void freeze() const { ::kill(pid_, SIGSTOP); }
  void thaw() const { ::kill(pid_, SIGCONT); }

  std::uint16_t port() const { return port_; }
  net::Address address() const { return {.host = "127.0.0.1", .port = port_}; }
  RawClient client() const { return RawClient(port_); }

 private:
  std::uint16_t port_;
  std::vector<std::string> extra_;
  std::string directory_;
  pid_t pid_ = 0;
};

}  // namespace cleave::backend
