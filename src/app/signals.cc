#include "app/signals.h"

#include <csignal>
#include <ctime>

namespace cleave::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void hold_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_wanted(milliseconds patience) {
  const sigset_t set = stop_signals();
  timespec time{};
  time.tv_sec = patience.count() / 1'000;
  time.tv_nsec = patience.count() % 1'000 * 1'000'000;
  return sigtimedwait(&set, nullptr, &time) > 0;
}

}  // namespace cleave::app
