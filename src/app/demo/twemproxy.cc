#include "app/demo/twemproxy.h"

#include <csignal>
#include <thread>
#include <utility>
#include <vector>

#include "supervise/ask.h"
#include "supervise/files.h"
#include "supervise/node_files.h"

namespace cleave::app {
namespace {

constexpr milliseconds kLook{20};
constexpr int kLooksMax = 250;  // 5 s
constexpr std::uint16_t kFirstStatsPort = 25'001;

}  // namespace

Result<std::unique_ptr<Twemproxy>> Twemproxy::start(const std::string& config,
                                                    const net::Address& address,
                                                    const std::string& directory) {
  const Result<std::string> program = supervise::find_program("nutcracker");
  if (!program) {
    return fail(Code::kNotFound,
                "twemproxy is not installed: the program is nutcracker, so is Debian's package");
  }
  const std::string stem = directory + "/nutcracker-" + std::to_string(address.port);
  if (const auto written = supervise::write_file(stem + ".yml", config); !written) {
    return std::unexpected(written.error());
  }
  const Result<std::uint16_t> stats_port = supervise::find_free_port(kFirstStatsPort, {});
  if (!stats_port) return std::unexpected(stats_port.error());
  const std::string log = stem + ".log";
  const Result<supervise::Process> process = supervise::spawn_detached(
      {*program, "-c", stem + ".yml", "-a", "127.0.0.1", "-s", std::to_string(*stats_port)}, log);
  if (!process) return std::unexpected(process.error());
  // Not make_unique: the constructor is private.
  std::unique_ptr<Twemproxy> started(new Twemproxy(address, *process));
  if (const auto answers = started->wait_until_it_answers(log); !answers) {
    return std::unexpected(answers.error());
  }
  return started;
}

// Any answer of a server behind it will do.
Result<void> Twemproxy::wait_until_it_answers(const std::string& log) const {
  for (int look = 0; look < kLooksMax; ++look) {
    if (supervise::ask(address_, {"GET", "cleave:probe"}, kLook)) return {};
    if (const auto ended = supervise::how_it_ended(process_)) {
      return fail(Code::kUnavailable, "twemproxy " + *ended + ": " +
                                          supervise::read_file(log).value_or("it left no log"));
    }
    std::this_thread::sleep_for(kLook);
  }
  return fail(Code::kTimeout, "twemproxy does not answer at " + net::to_string(address_));
}

Twemproxy::~Twemproxy() {
  supervise::send_signal(process_, SIGTERM);
  for (int look = 0; look < kLooksMax; ++look) {
    if (supervise::how_it_ended(process_)) return;
    std::this_thread::sleep_for(kLook);
  }
  supervise::send_signal(process_, SIGKILL);
  supervise::how_it_ended(process_);
}

}  // namespace cleave::app
