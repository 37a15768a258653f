// With real redis-servers in a temporary directory.
#include "supervise/left_behind.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "supervise/children.h"
#include "supervise/process.h"
#include "supervise/temporary_directory.h"

namespace cleave::supervise {
namespace {

using Strings = std::vector<std::string>;

TEST(LeftBehind, EndsTheServersOfAKilledUp) {
  const TemporaryDirectory directory;
  Children::Options options;
  options.directory = directory.path();
  options.names = {"a", "b"};
  Result<std::unique_ptr<Children>> children = Children::start(options);
  ASSERT_TRUE(children) << children.error().message;
  std::vector<Process> processes;
  for (const Child& child : (*children)->list()) processes.push_back(*find_process(child.pid));
  EXPECT_EQ(end_left_behind({.directory = directory.path()}).error().code, Code::kConflict)
      << "the one that runs ends them itself";
  children->reset();  // as if it had been killed: they run on
  for (const Process& process : processes) EXPECT_FALSE(how_it_ended(process).has_value());

  EXPECT_EQ(*end_left_behind({.directory = directory.path()}), (Strings{"a", "b"}));
  for (const Process& process : processes) EXPECT_TRUE(how_it_ended(process).has_value());
  EXPECT_EQ(*end_left_behind({.directory = directory.path()}), Strings{});
}

TEST(LeftBehind, NoOtherProcessIsEverEnded) {
  const TemporaryDirectory directory;
  Children::Options options;
  options.directory = directory.path();
  options.names = {"a"};
  Result<std::unique_ptr<Children>> children = Children::start(options);
  ASSERT_TRUE(children) << children.error().message;
  ASSERT_TRUE((*children)->stop());
  children->reset();
  const std::string pid_file = directory.path() + "/nodes/a/redis.pid";
  std::ofstream(pid_file) << getpid() << "\n";  // no server
  EXPECT_EQ(*end_left_behind({.directory = directory.path()}), Strings{});

  // A server that works elsewhere. It listens, for one that listens nowhere soon ends by itself.
  const std::string socket = directory.path() + "/other.sock";
  const Result<Process> other =
      spawn_detached({*find_program("redis-server"), "--port", "0", "--unixsocket", socket, "--dir",
                      directory.path(), "--save", ""},
                     directory.path() + "/other.log");
  ASSERT_TRUE(other);
  while (!std::filesystem::exists(socket)) {
    ASSERT_FALSE(how_it_ended(*other).has_value());
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::ofstream(pid_file) << other->pid << "\n";
  EXPECT_EQ(*end_left_behind({.directory = directory.path()}), Strings{});
  EXPECT_FALSE(how_it_ended(*other).has_value());
  send_signal(*other, SIGKILL);
}

TEST(LeftBehind, ADirectoryOfNobodyIsAnError) {
  EXPECT_EQ(end_left_behind({.directory = "/nowhere"}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace cleave::supervise
