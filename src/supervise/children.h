// Children: the redis-servers of `cleave up`, one a node, on loopback, with directories of their
// own (supervise/node_files.h).
//
//   start() -- a server answers on the remembered port and its `dir` is ours --> adopted
//           -- nobody answers there --------------------------------------> started, detached
//           -- somebody else answers there -------------------------------> error
//
// They outlive us: destroying Children, or killing the process, leaves them running; the next
// `start` on the directory adopts them. `stop` ends them.
//
// Threads: one; `start` and `stop` block (start-up and Ctrl-C), `watch` does not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/loop.h"

namespace cleave::supervise {

struct Child {
  std::string name;
  net::Address address;
  int pid = 0;
  bool adopted = false;  // it ran already when we came
};

// Something that happened to a child.
struct ChildEvent {
  enum class Kind : std::uint8_t {
    kDied,       // `message`: how, and what its log says; it will be started again
    kRestarted,  // it answers again
    kGivenUp,    // too many deaths in a row: it stays down
  };
  Kind kind;
  std::string name;
  std::string message;
};

class Children {
 public:
  using Log = std::function<void(const std::string&)>;
  struct Options {
    std::string directory;           // made if it does not exist
    std::vector<std::string> names;  // of the nodes, unique
    std::string program = "redis-server";
    std::uint16_t first_port = 7'001;  // where the search for free ports begins
    milliseconds start_max{30'000};    // until each answers; reading a big file takes long
    milliseconds stop_max{10'000};     // until SIGTERM, and again as long until SIGKILL
    milliseconds look_interval{250};   // of `watch`
    milliseconds restart_first{100};   // pause before a restart; doubles with each death in a row
    milliseconds restart_longest{5'000};
    std::uint32_t restarts_max = 8;       // in a row; a child that was up for `steady_after` counts
    milliseconds steady_after{60'000};    // from zero again
    Log log = [](const std::string&) {};  // what a person should see
  };

  // Locks the directory, adopts or starts every child, waits until all answer. After a failure
  // none that it started is left running. Errors: kConflict (another `cleave up` has the directory,
  // or another program a port), kNotFound (no redis-server), kInvalid (a name; a server that is too
  // old), kUnavailable (directory, disk, port; the server ended: with what its log says), kTimeout.
  static Result<std::unique_ptr<Children>> start(Options options);

  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  std::vector<Child> list() const;

  // Looks after them from now on: a child that died is started again, on its old port. To be called
  // once; the loop must outlive this object, which must not be destroyed within `told`. Nothing
  // happens to a child while it merely hangs: the prober of its node tells that.
  void watch(net::Loop& loop, std::function<void(const ChildEvent&)> told);

  // SIGTERM to all (a redis-server takes it as SHUTDOWN), at last SIGKILL, which is logged. Errors:
  // kTimeout, naming those that run on even so.
  Result<void> stop();

 private:
  class Impl;
  explicit Children(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::supervise
