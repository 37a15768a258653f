// Server: one child redis-server and its start, adoption and end; blocking steps. Private to
// supervise.
//
// Threads: one.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "supervise/children.h"
#include "supervise/node_files.h"
#include "supervise/process.h"

namespace cleave::supervise {

// Whether a server of that version, "7.0.15", can take part in moves: 6.2 or newer.
bool new_enough(std::string_view version);

class Server {
 public:
  // Makes its files and chooses its port, unless it has one. `directory` is a real path.
  static Result<Server> prepare(const Children::Options& options, const std::string& directory,
                                const std::string& name);

  // Takes over the server that answers on the port if it is ours. True: done. False: nobody
  // answers there. Errors: kConflict, somebody else does.
  Result<bool> adopt();

  // Writes its configuration and starts it; it does not answer yet.
  Result<void> spawn(const std::string& program);

  // Whether it, and not another program on its port, answers now. Errors: kUnavailable, it has
  // ended; kInvalid, its version is too old.
  Result<bool> ready();

  // When the port that was just chosen was taken by another meanwhile: chooses the next one.
  Result<bool> choose_again();

  // nullopt: it runs. Else how it ended and the last lines of its log.
  std::optional<std::string> death() const;

  // Always by its own pid, never by its address: another server may have the port by now.
  void signal(int signal) { send_signal(process_, signal); }
  bool running() const { return !how_it_ended(process_); }

  const Child& child() const { return child_; }

 private:
  Server(std::string directory, NodeFiles files)
      : root_(std::move(directory)), files_(std::move(files)) {}
  Result<void> take_port(std::uint16_t first);
  std::string log_tail() const;

  std::string root_;
  NodeFiles files_;
  Child child_;
  Process process_;
  bool port_is_new_ = false;
  std::uintmax_t log_begin_ = 0;  // size of the log when this life began
};

}  // namespace cleave::supervise
