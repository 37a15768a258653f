// What the tests of net share: a loop with a watchdog, a recorder of stream events, a pair of
// connected streams. Real loopback sockets, ports given by the kernel.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "net/asio_loop.h"

namespace cleave::net {

// Runs the loop until `stop` or, as a failure, until the watchdog bites.
inline void run_bounded(AsioLoop& loop, seconds most = seconds{20}) {
  const TimerId watchdog = loop.after(most, [&] {
    ADD_FAILURE() << "the test did not finish in time";
    loop.stop();
  });
  loop.run();
  loop.cancel(watchdog);
}

// Keeps what it is told; the hooks run after keeping it.
class Recorder : public StreamEvents {
 public:
  std::string got;
  int drained = 0;
  std::vector<Error> closed;
  std::function<void(std::string_view)> bytes_hook = [](std::string_view) {};
  std::function<void()> drained_hook = [] {};
  std::function<void()> closed_hook = [] {};

  void on_bytes(std::string_view bytes) override {
    EXPECT_TRUE(closed.empty()) << "bytes after the close";
    const Entered entered(depth_);
    got += bytes;
    bytes_hook(bytes);
  }
  void on_drained() override {
    const Entered entered(depth_);
    ++drained;
    drained_hook();
  }
  void on_closed(const Error& why) override {
    const Entered entered(depth_);
    closed.push_back(why);
    closed_hook();
  }

 private:
  // Shared, because a hook may destroy the recorder.
  struct Entered {
    explicit Entered(std::shared_ptr<int> shared) : depth(std::move(shared)) {
      EXPECT_EQ((*depth)++, 0) << "an event within another";
    }
    ~Entered() { --*depth; }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    std::shared_ptr<int> depth;
  };
  std::shared_ptr<int> depth_ = std::make_shared<int>(0);
};

// Both ends of one connection on one loop.
struct StreamPair {
  std::unique_ptr<Stream> client;
  std::unique_ptr<Stream> server;
};

inline StreamPair make_pair_on(AsioLoop& loop) {
  StreamPair pair;
  const auto stop_when_both = [&] {
    if (pair.client && pair.server) loop.stop();
  };
  auto listener = loop.listen(Address{"127.0.0.1", 0},
                              Loop::Acceptor{.choose = [&]() -> Loop& { return loop; },
                                             .accepted =
                                                 [&](Loop&, std::unique_ptr<Stream> stream) {
                                                   pair.server = std::move(stream);
                                                   stop_when_both();
                                                 }});
  EXPECT_TRUE(listener) << listener.error().message;
  const Address address = (*listener)->address();
  loop.connect(address, milliseconds{5'000}, [&](Result<std::unique_ptr<Stream>> stream) {
    EXPECT_TRUE(stream) << stream.error().message;
    pair.client = std::move(*stream);
    stop_when_both();
  });
  run_bounded(loop);
  listener->reset();  // its callbacks point into this frame
  return pair;
}

}  // namespace cleave::net
