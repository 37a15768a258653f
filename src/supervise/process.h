// Processes that live on when we die: started in a session of their own, found again by pid and
// start time, so that a pid that was given to somebody else is never taken for ours.
//
// Linux only (/proc). Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cleave::supervise {

struct Process {
  int pid = 0;                // 0: none
  std::uint64_t started = 0;  // clock ticks since boot
  friend bool operator==(const Process&, const Process&) = default;
};

// The program's path, by PATH when the name has no '/'. Errors: kNotFound.
Result<std::string> find_program(const std::string& name);

// Starts `arguments[0]` (a path) in a new session, with default signals, standard input from
// /dev/null, both outputs appended to `output_path`, and none of our descriptors: one that it
// inherited (a listening socket) would stay open after our death. Errors: kUnavailable.
Result<Process> spawn_detached(const std::vector<std::string>& arguments,
                               const std::string& output_path);

// The running process of that pid. Errors: kNotFound.
Result<Process> find_process(int pid);

// nullopt: it runs. Else it is gone, and how, as far as the system tells us: "exited with status
// 1", "killed by signal 9", "gone" (not our own child). Reaps our own children.
std::optional<std::string> how_it_ended(const Process& process);

// Sends a signal, unless the process is gone.
void send_signal(const Process& process, int signal);

}  // namespace cleave::supervise
