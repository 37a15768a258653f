// AsioLoop: net::Loop of the real world, one thread over Boost.Asio. sim/ has the other one.
//
// Asio itself is seen by asio_loop.cc and asio_connect.cc only: it compiles slowly, and nobody
// above may come to depend on it.
//
// Threads: see net/loop.h; here `stop` may also be called from any thread. Streams, listeners and
// everything that waits for a callback must be gone before their loop is destroyed; callbacks that
// have not run by then are destroyed without being run.
#pragma once

#include <memory>

#include "net/loop.h"

namespace cleave::net {

class AsioLoop : public Loop {
 public:
  // Runs callbacks on the calling thread until `stop`. May be called again afterwards.
  virtual void run() = 0;
  // Any thread. `run` returns soon: callbacks that are ready now may still run. If it has not
  // begun, it returns at once when it is called.
  virtual void stop() = 0;
};

// Cost: four file descriptors (two epoll sets, eventfd, timerfd) and 64 KiB.
std::unique_ptr<AsioLoop> make_loop();

}  // namespace cleave::net
