// With real redis-servers in a temporary directory. Every process that is started is ended by its
// pid, whatever the test does.
#include "supervise/children.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "net/asio_loop.h"
#include "net/unique_fd.h"
#include "supervise/ask.h"
#include "supervise/files.h"
#include "supervise/process.h"
#include "supervise/server.h"
#include "supervise/temporary_directory.h"

namespace cleave::supervise {
namespace {

using Strings = std::vector<std::string>;

// Listens at 127.0.0.1, on a port that the kernel gives or on the one asked for.
class Squatter {
 public:
  explicit Squatter(std::uint16_t port = 0) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port);
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    socklen_t size = sizeof(name);
    const int yes = 1;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    EXPECT_EQ(::bind(fd_.get(), generic, size), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    EXPECT_EQ(::getsockname(fd_.get(), generic, &size), 0);
    address_ = {.host = "127.0.0.1", .port = ntohs(name.sin_port)};
  }
  const net::Address& address() const { return address_; }
  int fd() const { return fd_.get(); }

  // Accepts one connection and sends it the bytes in the given pieces.
  std::thread answer(Strings pieces) const {
    return std::thread([fd = fd_.get(), pieces = std::move(pieces)] {
      const net::UniqueFd peer(::accept(fd, nullptr, nullptr));
      char question[1'024];
      EXPECT_GT(::recv(peer.get(), question, sizeof(question), 0), 0);
      for (const std::string& piece : pieces) {
        EXPECT_EQ(::send(peer.get(), piece.data(), piece.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(piece.size()));
        std::this_thread::sleep_for(milliseconds{2});
      }
    });
  }

 private:
  // Without close-on-exec on purpose: children must not get it all the same.
  net::UniqueFd fd_{::socket(AF_INET, SOCK_STREAM, 0)};
  net::Address address_;
};

TEST(Ask, ReadsEveryKindOfAnswerInPieces) {
  const Squatter server;
  std::thread thread = server.answer(
      {"*5\r\n+o", "k\r\n:42\r", "\n$5\r\nhe\r\nl", "\r\n$-1\r\n", "*1\r\n$0\r\n\r\n"});
  const auto answer = ask(server.address(), {"X"}, seconds{5});
  thread.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, (Strings{"ok", "42", "he\r\nl", "", ""}));
}

TEST(Ask, ToldApartByCode) {
  const Squatter server;
  EXPECT_EQ(ask(server.address(), {"X"}, milliseconds{50}).error().code, Code::kTimeout);
  struct Case {
    std::string answer;
    Code code;
  };
  for (const Case& one : {Case{"", Code::kUnavailable}, Case{"HTTP/1.1 400\r\n", Code::kInvalid},
                          Case{"-ERR no\r\n", Code::kInvalid}, Case{"$x\r\n", Code::kInvalid},
                          Case{"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+a\r\n", Code::kInvalid},
                          Case{"$99999999\r\n", Code::kInvalid}}) {
    const Squatter odd;
    std::thread thread = odd.answer({one.answer});
    const auto answer = ask(odd.address(), {"X"}, seconds{5});
    thread.join();
    ASSERT_FALSE(answer) << one.answer;
    EXPECT_EQ(answer.error().code, one.code) << one.answer;
  }
  net::Address free;
  {
    const Squatter gone;
    free = gone.address();
  }
  EXPECT_EQ(ask(free, {"X"}, seconds{5}).error().code, Code::kNotFound);
}

TEST(NewEnough, ComparesVersions) {
  for (const char* version : {"6.2", "6.2.0", "7.0.15", "8.0", "10.1.1", "7.2.4-rc1"})
    EXPECT_TRUE(new_enough(version)) << version;
  for (const char* version : {"", "6", "6.0.16", "5.9.9", "2.8", "x.y"})
    EXPECT_FALSE(new_enough(version)) << version;
}

class ChildrenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(find_program("redis-server"))
        << "these tests want a real redis-server: apt-get install redis-server";
  }
  void TearDown() override {
    for (const Process& process : started_) send_signal(process, SIGKILL);
    for (const Process& process : started_) EXPECT_TRUE(gone(process)) << process.pid;
  }

  Result<std::unique_ptr<Children>> start(
      const Strings& names,
      const std::function<void(Children::Options&)>& change = [](Children::Options&) {}) {
    Children::Options options{
        .directory = directory_.path() + "/up",
        .names = names,
        // Others test on this machine at the same time.
        .first_port = static_cast<std::uint16_t>(10'000 + ::getpid() % 20'000),
        .stop_max = seconds{10},
        .look_interval = milliseconds{10},
        .restart_first = milliseconds{10},
        .log = [this](const std::string& line) { log_ += line + "\n"; }};
    change(options);
    auto children = Children::start(std::move(options));
    if (children) remember(**children);
    return children;
  }

  // So that TearDown finds them.
  void remember(const Children& children) {
    for (const Child& child : children.list())
      if (const auto process = find_process(child.pid)) started_.push_back(*process);
  }

  static bool gone(const Process& process) {
    for (int i = 0; i < 500; ++i) {
      if (how_it_ended(process)) return true;
      std::this_thread::sleep_for(milliseconds{10});
    }
    return false;
  }

  static Strings answer(const Child& child, const Strings& command) {
    const auto strings = ask(child.address, command, seconds{5});
    EXPECT_TRUE(strings) << strings.error().message;
    return strings ? *strings : Strings{};
  }

  // A program in place of redis-server: a shell script; `"$redis" "$@"` is the real one.
  std::string script(const std::string& body) {
    const std::string path = directory_.path() + "/server.sh";
    const std::string fresh = path + ".new";
    std::ofstream(fresh) << "#!/bin/sh\nredis=" << *find_program("redis-server") << "\n" << body;
    std::filesystem::permissions(fresh, std::filesystem::perms::owner_all);
    std::filesystem::rename(fresh, path);
    return path;
  }

  std::string node_path(const std::string& name) const {
    return directory_.path() + "/up/nodes/" + name;
  }

  TemporaryDirectory directory_;
  std::string log_;
  std::vector<Process> started_;
};

TEST_F(ChildrenTest, StartsDurableServersOnLoopback) {
  const auto children = start({"a", "b"});
  ASSERT_TRUE(children) << children.error().message;
  const auto list = (*children)->list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_NE(list[0].address, list[1].address);
  for (const Child& child : list) {
    EXPECT_FALSE(child.adopted);
    EXPECT_EQ(child.address.host, "127.0.0.1");
    EXPECT_EQ(answer(child, {"PING"}), Strings{"PONG"});
    EXPECT_EQ(answer(child, {"CONFIG", "GET", "appendonly"}), (Strings{"appendonly", "yes"}));
    EXPECT_EQ(answer(child, {"CONFIG", "GET", "appendfsync"}),
              (Strings{"appendfsync", "everysec"}));
    EXPECT_EQ(answer(child, {"CONFIG", "GET", "save"}), (Strings{"save", ""}));
    EXPECT_EQ(answer(child, {"CONFIG", "GET", "bind"}), (Strings{"bind", "127.0.0.1"}));
    EXPECT_EQ(answer(child, {"CONFIG", "GET", "protected-mode"}),
              (Strings{"protected-mode", "yes"}));
    EXPECT_EQ(read_file(node_path(child.name) + "/port"),
              std::to_string(child.address.port) + "\n");
    EXPECT_EQ(read_file(node_path(child.name) + "/redis.pid"), std::to_string(child.pid) + "\n");
  }
}

TEST_F(ChildrenTest, AreDetachedAndInheritNothing) {
  const Squatter ours;
  const auto children = start({"a"});
  ASSERT_TRUE(children) << children.error().message;
  const int pid = (*children)->list()[0].pid;
  EXPECT_EQ(::getsid(pid), pid) << "a session of its own";
  const std::string fds = "/proc/" + std::to_string(pid) + "/fd/";
  EXPECT_EQ(std::filesystem::read_symlink(fds + "0"), "/dev/null");
  const auto socket = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(ours.fd()));
  for (const auto& entry : std::filesystem::directory_iterator(fds)) {
    std::error_code closed_meanwhile;
    EXPECT_NE(std::filesystem::read_symlink(entry.path(), closed_meanwhile), socket)
        << "it inherited our listening socket";
  }
}

TEST_F(ChildrenTest, OutliveUsAndAreAdopted) {
  auto first = start({"a", "b"});
  ASSERT_TRUE(first) << first.error().message;
  const auto before = (*first)->list();
  answer(before[0], {"SET", "key", "value"});
  first->reset();  // as a kill -9 of ours: nobody tells the servers
  auto second = start({"a", "b", "c"});
  ASSERT_TRUE(second) << second.error().message;
  const auto after = (*second)->list();
  EXPECT_EQ(after[0].pid, before[0].pid);
  EXPECT_EQ(after[1].pid, before[1].pid);
  EXPECT_TRUE(after[0].adopted && after[1].adopted);
  EXPECT_FALSE(after[2].adopted);
  EXPECT_EQ(answer(after[0], {"GET", "key"}), Strings{"value"});
  EXPECT_TRUE((*second)->stop()) << "adopted ones, too";
  for (const Process& process : started_) EXPECT_TRUE(how_it_ended(process));
}

TEST_F(ChildrenTest, StopKeepsTheDataAndThePort) {
  auto first = start({"a"});
  ASSERT_TRUE(first) << first.error().message;
  const Child before = (*first)->list()[0];
  answer(before, {"SET", "key", "value"});
  const auto stopped = (*first)->stop();
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(log_, "") << "SIGTERM was enough";
  EXPECT_EQ(ask(before.address, {"PING"}, seconds{1}).error().code, Code::kNotFound);
  first->reset();
  const auto second = start({"a"});
  ASSERT_TRUE(second) << second.error().message;
  const Child after = (*second)->list()[0];
  EXPECT_FALSE(after.adopted);
  EXPECT_EQ(after.address, before.address);
  EXPECT_EQ(answer(after, {"GET", "key"}), Strings{"value"});
}

TEST_F(ChildrenTest, ASecondUpIsToldThePidOfTheFirst) {
  const auto first = start({"a"});
  ASSERT_TRUE(first) << first.error().message;
  const auto second = start({"a"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  EXPECT_EQ(answer((*first)->list()[0], {"PING"}), Strings{"PONG"}) << "left alone";
}

TEST_F(ChildrenTest, AnotherProgramOnAPortIsAClearErrorAndNothingIsStarted) {
  const Squatter squatter;
  ASSERT_TRUE(make_directory(node_path("b")));
  ASSERT_TRUE(write_file(node_path("b") + "/port", std::to_string(squatter.address().port)));
  const auto children = start({"a", "b"});
  ASSERT_FALSE(children);
  EXPECT_EQ(children.error().code, Code::kConflict);
  for (const std::string& part :
       Strings{net::to_string(squatter.address()), node_path("b") + "/port", "not our server"})
    EXPECT_NE(children.error().message.find(part), std::string::npos) << children.error().message;
  EXPECT_EQ(read_file(node_path("a") + "/redis.log").error().code, Code::kNotFound);
}

TEST_F(ChildrenTest, AServerOfAnotherDirectoryIsNotOurs) {
  const auto theirs = start({"a"}, [&](Children::Options& options) {
    options.directory = directory_.path() + "/theirs";
  });
  ASSERT_TRUE(theirs) << theirs.error().message;
  const Child child = (*theirs)->list()[0];
  ASSERT_TRUE(make_directory(node_path("a")));
  ASSERT_TRUE(write_file(node_path("a") + "/port", std::to_string(child.address.port)));
  const auto ours = start({"a"});
  ASSERT_FALSE(ours);
  EXPECT_EQ(ours.error().code, Code::kConflict);
  EXPECT_EQ(answer(child, {"PING"}), Strings{"PONG"}) << "left alone";
}

TEST_F(ChildrenTest, MissingProgramSaysHowToInstallIt) {
  const auto children =
      start({"a"}, [](Children::Options& options) { options.program = "no-such-redis-server"; });
  ASSERT_FALSE(children);
  EXPECT_EQ(children.error().code, Code::kNotFound);
  EXPECT_NE(children.error().message.find("apt-get install redis-server"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/up")) << "nothing was made";
}

TEST_F(ChildrenTest, UnusableDirectoryIsAClearError) {
  ASSERT_TRUE(write_file(directory_.path() + "/up", "a file"));
  const auto children = start({"a"});
  ASSERT_FALSE(children);
  EXPECT_EQ(children.error().code, Code::kUnavailable);
  EXPECT_NE(children.error().message.find(directory_.path() + "/up"), std::string::npos);
}

TEST_F(ChildrenTest, NamesAreChecked) {
  EXPECT_EQ(start({"a", "../b"}).error().code, Code::kInvalid);
  EXPECT_EQ(start({"a", "a"}).error().code, Code::kInvalid);
}

TEST_F(ChildrenTest, AServerThatCannotStartTellsWhyAndLeavesNoneBehind) {
  // The first one runs, the second one ends.
  const std::string program =
      script("case \"$1\" in */b/*) echo boom >&2; exit 3;; esac\nexec \"$redis\" \"$@\"\n");
  const auto children =
      start({"a", "b"}, [&](Children::Options& options) { options.program = program; });
  ASSERT_FALSE(children);
  EXPECT_EQ(children.error().code, Code::kUnavailable);
  EXPECT_NE(children.error().message.find("node b"), std::string::npos);
  EXPECT_NE(children.error().message.find("status 3"), std::string::npos);
  EXPECT_NE(children.error().message.find("boom"), std::string::npos) << children.error().message;
  const auto port = read_file(node_path("a") + "/port");
  ASSERT_TRUE(port);
  const net::Address address{"127.0.0.1", static_cast<std::uint16_t>(std::stoi(*port))};
  EXPECT_EQ(ask(address, {"PING"}, seconds{1}).error().code, Code::kNotFound);
}

TEST_F(ChildrenTest, ANewPortThatIsTakenMeanwhileIsChosenAgain) {
  const std::string marker = directory_.path() + "/once";
  const std::string program = script("test -e '" + marker + "' || { touch '" + marker +
                                     "'; echo bind: Address already in use; exit 1; }\n"
                                     "exec \"$redis\" \"$@\"\n");
  const auto children =
      start({"a"}, [&](Children::Options& options) { options.program = program; });
  ASSERT_TRUE(children) << children.error().message;
  const Child child = (*children)->list()[0];
  EXPECT_EQ(answer(child, {"PING"}), Strings{"PONG"});
  EXPECT_EQ(read_file(node_path("a") + "/port"), std::to_string(child.address.port) + "\n");
}

// Two pools that start at the same moment choose the same port; the slower one must not take the
// faster one's server, which answers there, for its own.
TEST_F(ChildrenTest, AStrangersServerOnANewPortIsNotTakenForOurs) {
  const std::string marker = directory_.path() + "/once";
  const std::string program =
      script("if mkdir '" + marker +
             "' 2>/dev/null; then\n"
             "  port=$(sed -n 's/^port //p' \"$1\")\n"
             "  \"$redis\" --port $port --bind 127.0.0.1 --save '' --daemonize yes"
             " --pidfile '" +
             marker + "/pid' --dir '" + marker +
             "'\n"
             "  sleep 0.4; echo bind: Address already in use; exit 1\n"
             "fi\n"
             "exec \"$redis\" \"$@\"\n");
  const auto children =
      start({"a"}, [&](Children::Options& options) { options.program = program; });
  const auto pid = read_file(marker + "/pid");
  ASSERT_TRUE(pid) << pid.error().message;
  const auto stranger = find_process(std::stoi(*pid));
  ASSERT_TRUE(stranger);
  started_.push_back(*stranger);
  ASSERT_TRUE(children) << children.error().message;
  const Child child = (*children)->list()[0];
  EXPECT_NE(child.pid, stranger->pid);
  EXPECT_EQ(read_file(node_path("a") + "/redis.pid"), std::to_string(child.pid) + "\n");
}

// Our own server is gone and a stranger's has its port: stopping ours must leave the stranger's be.
TEST_F(ChildrenTest, StopNeverEndsAStrangersServer) {
  auto children = start({"a"});
  ASSERT_TRUE(children) << children.error().message;
  const Child child = (*children)->list()[0];
  ASSERT_EQ(::kill(child.pid, SIGKILL), 0);
  ASSERT_TRUE(gone(started_[0]));
  const std::string port = std::to_string(child.address.port);
  const auto stranger = spawn_detached({*find_program("redis-server"), "--port", port, "--bind",
                                        "127.0.0.1", "--save", "", "--dir", directory_.path()},
                                       directory_.path() + "/stranger.log");
  ASSERT_TRUE(stranger) << stranger.error().message;
  started_.push_back(*stranger);
  for (int i = 0; i < 500 && !ask(child.address, {"PING"}, seconds{1}); ++i)
    std::this_thread::sleep_for(milliseconds{10});
  EXPECT_TRUE((*children)->stop());
  EXPECT_EQ(answer(child, {"PING"}), Strings{"PONG"}) << "left alone";
}

TEST_F(ChildrenTest, OneThatHangsIsKilledAtLastAndThatIsLogged) {
  const auto children =
      start({"a"}, [](Children::Options& options) { options.stop_max = milliseconds{150}; });
  ASSERT_TRUE(children) << children.error().message;
  const int pid = (*children)->list()[0].pid;
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  const auto stopped = (*children)->stop();
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_NE(
      log_.find("process " + std::to_string(pid) + " still runs after SIGTERM, sending SIGKILL"),
      std::string::npos)
      << log_;
  EXPECT_TRUE(how_it_ended(started_[0]));
}

// Runs the loop until it is stopped or, as a failure, for twenty seconds.
void run_bounded(net::AsioLoop& loop) {
  const net::TimerId watchdog = loop.after(seconds{20}, [&] {
    ADD_FAILURE() << "the test did not finish in time";
    loop.stop();
  });
  loop.run();
  loop.cancel(watchdog);
}

TEST_F(ChildrenTest, AKilledChildIsStartedAgainWithItsData) {
  const auto loop = net::make_loop();
  const auto children = start({"a", "b"});
  ASSERT_TRUE(children) << children.error().message;
  const auto before = (*children)->list();
  answer(before[0], {"SET", "key", "value"});
  std::vector<ChildEvent> events;
  (*children)->watch(*loop, [&](const ChildEvent& event) {
    events.push_back(event);
    if (event.kind == ChildEvent::Kind::kRestarted) loop->stop();
  });
  ASSERT_EQ(::kill(before[0].pid, SIGKILL), 0);
  run_bounded(*loop);
  remember(**children);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, ChildEvent::Kind::kDied);
  EXPECT_EQ(events[0].name, "a");
  EXPECT_NE(events[0].message.find("killed by signal 9"), std::string::npos) << events[0].message;
  const auto after = (*children)->list();
  EXPECT_EQ(after[0].address, before[0].address);
  EXPECT_NE(after[0].pid, before[0].pid);
  EXPECT_EQ(after[1].pid, before[1].pid);
  EXPECT_EQ(answer(after[0], {"GET", "key"}), Strings{"value"});
  EXPECT_TRUE((*children)->stop());
}

TEST_F(ChildrenTest, OneThatKeepsDyingIsGivenUp) {
  const auto loop = net::make_loop();
  const std::string program = script("exec \"$redis\" \"$@\"\n");
  const auto children = start({"a"}, [&](Children::Options& options) {
    options.program = program;
    options.restarts_max = 2;
  });
  ASSERT_TRUE(children) << children.error().message;
  std::vector<ChildEvent> events;
  (*children)->watch(*loop, [&](const ChildEvent& event) {
    events.push_back(event);
    if (event.kind == ChildEvent::Kind::kGivenUp) loop->stop();
  });
  script("echo out of luck; exit 7\n");
  ASSERT_EQ(::kill((*children)->list()[0].pid, SIGKILL), 0);
  run_bounded(*loop);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].kind, ChildEvent::Kind::kDied);
  EXPECT_NE(events[1].message.find("status 7"), std::string::npos) << events[1].message;
  EXPECT_NE(events[1].message.find("out of luck"), std::string::npos) << events[1].message;
  EXPECT_EQ(events[2].kind, ChildEvent::Kind::kGivenUp);
  EXPECT_TRUE((*children)->stop()) << "nothing is left to stop";
}

}  // namespace
}  // namespace cleave::supervise
