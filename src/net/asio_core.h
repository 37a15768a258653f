// LoopCore: what asio_loop.cc, asio_stream.cc and asio_connect.cc share. Private to net.
//
//   run() -> [ready handlers] -> flush of turn ends -> epoll
//              |  posted callbacks (one handler drains all), due timers, streams, accepts
//
// Connections travel between the three files, and from one loop to another, as bare descriptors, so
// that no header needs Asio.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/asio_loop.h"
#include "net/timer_heap.h"
#include "net/unique_fd.h"

namespace boost::asio {
class io_context;
}

namespace cleave::net {

class LoopCore final : public AsioLoop {
 public:
  LoopCore();
  ~LoopCore() override;
  LoopCore(const LoopCore&) = delete;
  LoopCore& operator=(const LoopCore&) = delete;

  Instant now() const override { return clock_.now(); }
  UnixMillis wall_now() const override { return clock_.wall_now(); }

  void run() override;
  void stop() override;
  void post(Callback callback) override;
  void at_turn_end(TurnEnd& turn_end) override;
  void forget_turn_end(TurnEnd& turn_end) override;
  TimerId after(nanoseconds delay, Callback callback) override;
  void cancel(TimerId timer) override;
  void connect(const Address& address, milliseconds timeout, Connected done) override;
  Result<std::unique_ptr<Listener>> listen(const Address& address, Acceptor acceptor) override;

  boost::asio::io_context& context();

 private:
  struct Engine;  // Asio's objects

  void drain_posted();
  void run_turn_ends();
  void run_timers();
  void arm_timer();

  SystemClock clock_;
  TimerHeap timers_;
  std::optional<Instant> armed_;  // what the one Asio timer waits for

  // Asked for and not yet run: the set answers "already asked?", the vectors keep the order.
  boost::unordered_flat_set<TurnEnd*> turn_end_set_;
  std::vector<TurnEnd*> turn_ends_;
  std::vector<TurnEnd*> running_turn_ends_;  // nullptr: forgotten meanwhile

  // Our own queue, because Asio keeps posts of its own thread apart from those of other threads
  // until the handler ends: that would break "in order of posting".
  std::mutex posted_mutex_;
  std::vector<Callback> posted_;  // guarded by posted_mutex_
  std::vector<Callback> running_posted_;

  // Last, so first to go: handlers that die with it may still reach the members above.
  std::unique_ptr<Engine> engine_;
};

// A stream over a connected TCP socket. Errors: kUnavailable (the peer is gone already, or the
// kernel has no room for it).
Result<std::unique_ptr<Stream>> make_stream(LoopCore& loop, UniqueFd fd);

}  // namespace cleave::net
