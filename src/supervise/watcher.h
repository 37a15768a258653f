// Watcher: looks after running servers from a loop and starts again those that die. Private to
// supervise.
//
//   up --ended--> pausing --time--> starting --answers--> up
//                   ^                  |
//                   +------ended-------+     too many in a row: given up
//
// Never blocks: whether a process runs is read from /proc, whether it answers is asked through the
// loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/loop.h"
#include "supervise/children.h"
#include "supervise/server.h"

namespace cleave::supervise {

class Watcher {
 public:
  using Told = std::function<void(const ChildEvent&)>;

  // `servers` outlives the watcher and keeps its size; all of them are up.
  Watcher(net::Loop& loop, const Children::Options& options, std::string program,
          std::vector<Server>& servers, Told told);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  class Probe;
  enum class State : std::uint8_t { kUp, kPausing, kStarting, kGivenUp };
  struct Watched {
    Server& server;
    State state = State::kUp;
    Instant since{0};          // when it came up, or when the pause ends
    std::uint32_t deaths = 0;  // in a row
    std::shared_ptr<Probe> probe;
  };

  void look_later();
  void look();
  void look_at(Watched& watched);
  void died(Watched& watched, std::string how);
  void restart(Watched& watched);
  void came_up(Watched& watched);

  net::Loop& loop_;
  const Children::Options& options_;
  const std::string program_;
  Told told_;
  std::vector<Watched> watched_;
  net::TimerId timer_;
};

}  // namespace cleave::supervise
