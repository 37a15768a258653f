// in_child: a world with a rule switched off, in a process of its own, because a CHECK that states
// the rule (base/check.h) ends the process.
//
// Threads: to be called while there is one.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <iostream>

#include "base/check.h"

namespace cleave::sim {

// What `run` said, or that a CHECK ended it.
enum class ChildSaid : std::uint8_t { kYes, kNo, kChecked };

inline ChildSaid in_child(const std::function<bool()>& run) {
  std::cout.flush();
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    const bool yes = run();
    std::cout.flush();
    ::_exit(yes ? 0 : 1);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return ChildSaid::kChecked;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ChildSaid::kYes : ChildSaid::kNo;
}

}  // namespace cleave::sim
