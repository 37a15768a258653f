// Poller: which sockets are ready, for many sockets at once; an epoll set of its own inside the
// loop. Private to net.
//
// Asio's sockets try a read before each wait, which after a short read is a system call for nothing
// (EAGAIN, 0.3 us, as often as there are requests), keep a buffer for each idle connection, and
// give no hint that the ready ones are done. So connections are watched here, and Asio watches the
// set (asio_core.h). Counted for 150,000 PINGs of 50 clients: 300,000 recv and 63,000 epoll_wait
// with Asio's sockets; 150,000 recv, 93,000 epoll_wait and 47,000 epoll_ctl with these.
//
// Edge-triggered: `on_ready` comes when something changed, and whoever leaves bytes unread, asks to
// be visited again.
//
// Threads: one.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace cleave::net {

// Whatever waits for its descriptor to be ready.
class Pollable {
 public:
  virtual ~Pollable() = default;
  // `events` of epoll_ctl(2); 0 after `visit_again`. May add and forget any Pollable, itself too.
  virtual void on_ready(std::uint32_t events) = 0;
};

class Poller {
 public:
  // `epoll_fd` outlives the poller.
  explicit Poller(int epoll_fd) : epoll_fd_(epoll_fd) {}
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Until the descriptor is closed, which must follow a `forget`. Errors: kUnavailable.
  Result<void> add(int fd, Pollable& pollable);
  // It is not told anything any more.
  void forget(Pollable& pollable);
  // Tells it in the next `dispatch` even if nothing changes.
  void visit_again(Pollable& pollable) { again_.push_back(&pollable); }
  bool has_visits() const { return !again_.empty(); }

  // Tells everything that is ready now, each once; does not wait.
  void dispatch();

 private:
  // Events of one system call; more come with the next. As many as a turn should handle.
  static constexpr std::size_t kBatch = 128;

  int epoll_fd_;
  std::array<epoll_event, kBatch> events_{};
  std::span<epoll_event> batch_;  // what of events_ is not told yet
  std::vector<Pollable*> again_;
  std::vector<Pollable*> visiting_;  // nullptr: told or forgotten
};

}  // namespace cleave::net
