// What tests against real coordinators share: a server process in a directory of its own, and a
// forwarder that can be cut. Loopback, free ports.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/asio_loop.h"
#include "net/free_port_testing.h"

namespace cleave::coord {

// A failure, and false, when the program is not in PATH: a test that needs a server does not pass
// without it.
inline bool is_installed(const std::string& program, const std::string& package) {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) {
    if (::access((directory + "/" + program).c_str(), X_OK) == 0) return true;
  }
  ADD_FAILURE() << "the program '" << program << "' is not installed: run `make setup`, or install "
                << "Debian's package " << package;
  return false;
}

// A process that dies with the object, in a directory that does too.
class ServerProcess {
 public:
  ServerProcess() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cleave-coord-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~ServerProcess() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Runs it, its output in <directory>/log, and waits until `ready`.
  void start(std::vector<std::string> arguments, const std::function<bool()>& ready) {
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    const std::string log = directory_ + "/log";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a crashed test leaves no server behind
      ::dup2(::open("/dev/null", O_RDONLY), 0);
      const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::execvp(raw[0], raw.data());
      ::_exit(127);
    }
    ASSERT_GT(pid_, 0);
    for (int i = 0; i < 600; ++i) {
      // Asked first: what answers may be another server, on the port that ours did not get.
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = 0;
        FAIL() << arguments[0] << " ended at its start:\n" << read_log();
      }
      if (ready()) return;
      std::this_thread::sleep_for(milliseconds{50});
    }
    FAIL() << arguments[0] << " did not become ready in 30 s:\n" << read_log();
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // Returns when it has stopped: until then it might still answer.
  void freeze() const {
    if (pid_ <= 0) return;  // 0 would be ourselves
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void thaw() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
  }
  bool runs() const { return pid_ > 0; }
  const std::string& directory() const { return directory_; }

 private:
  std::string read_log() const {
    std::ostringstream text;
    text << std::ifstream(directory_ + "/log").rdbuf();
    return std::move(text).str();
  }

  std::string directory_;
  pid_t pid_ = 0;
};

// A way to a server that the test can spoil: refuse, cut, or swallow what the server answers.
// Lives on the test's loop, so it works while that runs.
class Forwarder {
 public:
  Forwarder(net::Loop& loop, net::Address server) : loop_(loop), server_(std::move(server)) {
    mend();
  }
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  net::Address address() const { return address_; }
  // Breaks every connection and lets no new one in.
  void cut() {
    listener_.reset();
    ways_.clear();
  }
  void mend() {
    auto listener = loop_.listen(
        address_,
        {.choose = [this]() -> net::Loop& { return loop_; },
         .accepted = [this](net::Loop&,
                            std::unique_ptr<net::Stream> stream) { begin(std::move(stream)); }});
    ASSERT_TRUE(listener) << listener.error().message;
    listener_ = std::move(*listener);
    address_ = listener_->address();
  }
  // Requests still arrive.
  void swallow_answers(bool yes) { swallow_ = yes; }
  // Bytes of all clients so far.
  std::uint64_t asked_bytes() const { return asked_bytes_; }

 private:
  // One connection: two ends that feed each other.
  struct Way {
    struct End final : net::StreamEvents {
      void on_bytes(std::string_view bytes) override {
        if (count != nullptr) *count += bytes.size();
        if (swallow != nullptr && *swallow) return;
        if (other != nullptr && other->stream) {
          other->stream->send(bytes);
        } else {
          kept += bytes;
        }
      }
      void on_closed(const Error&) override {
        if (other != nullptr) other->stream.reset();
      }
      std::unique_ptr<net::Stream> stream;
      End* other = nullptr;
      const bool* swallow = nullptr;
      std::uint64_t* count = nullptr;
      std::string kept;  // before the other end is there
    };
    End client;
    End server;
  };

  void begin(std::unique_ptr<net::Stream> stream) {
    const auto way = std::make_shared<Way>();
    ways_.insert(way);
    way->client.stream = std::move(stream);
    way->client.other = &way->server;
    way->server.other = &way->client;
    way->server.swallow = &swallow_;
    way->client.count = &asked_bytes_;
    way->client.stream->start(way->client);
    loop_.connect(server_, seconds{5},
                  [weak = std::weak_ptr(way)](Result<std::unique_ptr<net::Stream>> made) {
                    const auto kept = weak.lock();
                    if (!kept) return;
                    if (!made) return kept->client.stream.reset();
                    kept->server.stream = std::move(*made);
                    kept->server.stream->start(kept->server);
                    kept->server.stream->send(std::exchange(kept->client.kept, {}));
                  });
  }

  net::Loop& loop_;
  const net::Address server_;
  net::Address address_{.host = "127.0.0.1", .port = 0};
  bool swallow_ = false;
  std::uint64_t asked_bytes_ = 0;
  std::unique_ptr<net::Listener> listener_;
  std::set<std::shared_ptr<Way>> ways_;
};

}  // namespace cleave::coord
