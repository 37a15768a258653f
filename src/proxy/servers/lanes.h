// Lanes: a worker's connections to one node for requests that are too large to share one.
//
// A server that finds a request larger than its proto-max-bulk-len or its client-query-buffer-limit
// allows ends the connection, with whatever others have under way on it. So such a request goes
// alone, on a connection that nobody else uses until it is answered. It is asked before whether the
// server takes it: a refusal is then the same each time, and costs no connection.
//
//   send --> [ waiting ] --> a free lane: CONFIG GET --> the request --> its reply --> free
//
// A lane is a Pipe like any other (protocol rules 5 and 6: named, gated, killed when lost), and its
// command is unfinished from `send` on, so that a fence waits for it as for all others (rule 11).
//
// Threads: one worker.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/pipe.h"
#include "base/ids.h"
#include "base/limits.h"
#include "net/loop.h"

namespace cleave::proxy {

class Command;

// Requests of more bytes do not share a connection. The least that both of a server's limits can be
// set to is 1 MiB; what is read together with a request counts for the second.
inline constexpr std::size_t kSharedBytesMax = (std::size_t{1} << 20U) - (std::size_t{64} << 10U);

class Lanes final {
 public:
  struct Options {
    net::Loop& loop;
    Limits limits;
    std::function<std::unique_ptr<backend::Pipe>()> open;
  };

  explicit Lanes(Options options);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // So many bytes wait or are on their way that no more are taken.
  bool full() const { return bytes_ > options_.limits.pipe_unsent_bytes_max; }
  // Requires: not full. The command is told as by Pipe::send; Command::pipe is set meanwhile.
  void send(std::string_view raw, Command& command);

  // Nothing waits, is under way or is unfinished by rule 6.
  bool idle() const;
  // Closes connections that had nothing to do for a while. Not from within a command's callback.
  void sweep();
  // Connects anew where the server at the other end is not that one.
  void leave_others(const Incarnation& seen, const Error& why);

 private:
  class Lane;

  struct Job {
    Command* command = nullptr;
    std::string bytes;
  };

  void fill();
  Lane* free_lane();

  Options options_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<Job> waiting_;
  std::size_t bytes_ = 0;  // of everything that is not answered
  bool may_ask_ = true;    // the server has not refused CONFIG GET
};

}  // namespace cleave::proxy
