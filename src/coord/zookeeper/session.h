// Session: operations of ZooKeeper's C client, asked for and answered on a loop. Private to
// coord/zookeeper.
//
//   call -> waiting -> (connected) in flight -> answered
//              ^                       | connection lost, may be repeated
//              +-----------------------+
//
// A handle of the client is one ZooKeeper session. When that expires the handle is of no use and a
// new one is opened; `generation` counts them.
//
// Threads: one loop, and one thread that opens and closes handles. The client's own threads only
// post to the loop. May be destroyed in its callbacks; what is open then is never answered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coord/backoff.h"
#include "coord/zookeeper/worker.h"
#include "coord/zookeeper/zookeeper_register.h"

struct _zhandle;

namespace cleave::coord::zookeeper {

// What is asked.
struct Operation {
  enum class Kind : std::uint8_t { kGet, kExists, kSet, kCreate, kCreateEphemeral, kDelete, kList };
  Kind kind = Kind::kGet;
  std::string path = {};
  std::string value = {};
  std::int32_t version = -1;     // of kSet: the expected one; -1: any
  bool watch = false;            // of kGet and kExists: tell on_changed, once
  std::uint64_t generation = 0;  // only in this one; 0: in any
};

// What the server said. kNoAuth is an error instead.
struct Answer {
  enum class Outcome : std::uint8_t { kDone, kNoNode, kNodeExists, kBadVersion };
  Outcome outcome = Outcome::kDone;
  std::string value;
  std::int32_t version = 0;
  bool ours = false;  // kExists: ephemeral, of this very session
  std::vector<std::string> children;
  std::uint64_t generation = 0;
};

// One, over all its handles.
class Session {
 public:
  // May an operation whose outcome is unknown be sent again?
  enum class Repeat : std::uint8_t { kAllowed, kNever };
  // Errors: kUnavailable (no effect), kTimeout (unknown).
  using Done = std::function<void(Result<Answer>)>;

  Session(net::Loop& loop, const ZookeeperOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Answered by `until` at the latest, and before if the options say so.
  void call(Operation operation, Repeat repeat, Done done, Instant until = Instant::max());

  std::function<void(const std::string& path)> on_changed = [](const std::string&) {};
  // Watches of the old one are gone.
  std::function<void()> on_new_generation = [] {};

 private:
  struct Call {
    Operation operation;
    Repeat repeat = Repeat::kNever;
    Done done;
    net::TimerId deadline;
    milliseconds patience{0};
  };
  using SharedCall = std::shared_ptr<Call>;
  friend struct Door;
  friend struct Token;
  struct Handle;

  void open();
  void on_opened(std::uint64_t generation, _zhandle* opened, const std::string& error);
  void on_state(std::uint64_t generation, int state);
  void on_reply(std::uint64_t generation, std::uint64_t id, int code, Answer answer);
  void replace();
  void close_handle();
  milliseconds patience(Repeat repeat, Instant until) const;
  void pump();
  void issue(const SharedCall& call);
  int hand_over(const Operation& operation, const void* token) const;
  void on_deadline(const SharedCall& call);
  void lose(const SharedCall& call, const std::string& why);
  void answer(const SharedCall& call, Result<Answer> result);

  net::Loop& loop_;
  const ZookeeperOptions& options_;
  const std::string servers_;
  Backoff backoff_;
  std::shared_ptr<Handle> handle_;  // shared with the job that closes it
  _zhandle* client_ = nullptr;      // of handle_, once opened
  std::uint64_t generation_ = 0;
  bool connected_ = false;
  std::uint64_t latest_id_ = 0;
  std::deque<SharedCall> waiting_;
  std::map<std::uint64_t, SharedCall> in_flight_;
  net::TimerId pause_;
  std::string latest_error_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  Worker worker_;  // last, so first to go: after it no thread knows us
};

}  // namespace cleave::coord::zookeeper
