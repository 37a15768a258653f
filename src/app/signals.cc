#include "app/signals.h"

#include <csignal>
#include <ctime>

#include "app/log.h"

namespace cleave::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

sigset_t held_signals() {
  sigset_t set = stop_signals();
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void hold_stop_signals() {
  const sigset_t set = held_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_wanted(milliseconds patience) {
  const sigset_t set = held_signals();
  timespec time{};
  time.tv_sec = patience.count() / 1'000;
  time.tv_nsec = patience.count() % 1'000 * 1'000'000;
  const int signal = sigtimedwait(&set, nullptr, &time);
  if (signal != SIGHUP) return signal > 0;
  log_info("SIGHUP is ignored: nothing is read again; to change the configuration, restart");
  return false;
}

}  // namespace cleave::app
