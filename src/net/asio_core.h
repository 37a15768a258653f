// LoopCore: what the files of the Asio loop share. Private to net.
//
//   Asio's queue --+-- posted callbacks (one handler drains all), due timers, accepts, connects
//                  +-- the Poller's set is ready: all ready streams, then the turn ends
//
// Asio does what happens now and then; streams, whose events are as many as the requests, go
// through a Poller that Asio only wakes. Connections travel between the files, and from one loop to
// another, as bare descriptors, so that no header needs Asio.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "net/asio_loop.h"
#include "net/poller.h"
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
  Poller& poller() { return *poller_; }
  // Poller::visit_again, and makes sure that there is a next dispatch.
  void visit_again(Pollable& pollable);
  // Where every stream reads to. Used within one call only.
  std::span<char> read_buffer() { return {read_buffer_.get(), kReadBytes}; }

 private:
  struct Engine;  // Asio's objects

  static constexpr std::size_t kReadBytes = 65'536;

  void await_ready();
  void turn();
  void drain_posted();
  void run_turn_ends();
  void run_timers();
  void arm_timer();

  SystemClock clock_;
  std::unique_ptr<char[]> read_buffer_ = std::make_unique_for_overwrite<char[]>(kReadBytes);
  TimerHeap timers_;
  std::optional<Instant> armed_;  // what the one Asio timer waits for

  // Asked for and not yet run: the set answers "already asked?", the vectors keep the order.
  boost::unordered_flat_set<TurnEnd*> turn_end_set_;
  std::vector<TurnEnd*> turn_ends_;
  std::vector<TurnEnd*> running_turn_ends_;  // nullptr: forgotten meanwhile
  bool in_turn_ = false;                     // turn() is running and will run them

  // Our own queue, because Asio keeps posts of its own thread apart from those of other threads
  // until the handler ends: that would break "in order of posting".
  std::mutex posted_mutex_;
  std::vector<Callback> posted_;  // guarded by posted_mutex_
  std::vector<Callback> running_posted_;

  std::unique_ptr<Poller> poller_;

  // Last, so first to go: handlers that die with it may still reach the members above.
  std::unique_ptr<Engine> engine_;
};

// A stream over a connected TCP socket. Errors: kUnavailable (the peer is gone already, or the
// kernel has no room for it).
Result<std::unique_ptr<Stream>> make_stream(LoopCore& loop, UniqueFd fd);

}  // namespace cleave::net
