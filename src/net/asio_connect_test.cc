// Connecting and listening with real loopback sockets.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "net/net_testing.h"
#include "net/unique_fd.h"

namespace cleave::net {
namespace {

using Connected = Result<std::unique_ptr<Stream>>;

// Accepts on the loop itself and keeps the streams.
struct Keeper {
  std::vector<std::unique_ptr<Stream>> streams;
  Loop::Acceptor acceptor(Loop& loop, std::function<void()> hook = [] {}) {
    return {.choose = [&loop]() -> Loop& { return loop; },
            .accepted =
                [this, hook](Loop&, std::unique_ptr<Stream> stream) {
                  streams.push_back(std::move(stream));
                  hook();
                }};
  }
};

// A plain socket that listens with the smallest backlog and never accepts.
struct DeafListener {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Address address{"127.0.0.1", 0};

  DeafListener() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(name);
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    EXPECT_EQ(::bind(fd.get(), generic, length), 0);
    EXPECT_EQ(::listen(fd.get(), 0), 0);
    EXPECT_EQ(::getsockname(fd.get(), generic, &length), 0);
    address.port = ntohs(name.sin_port);
  }
};

TEST(Connect, RefusedNamesTheAddress) {
  const auto loop = make_loop();
  Address address;
  {
    Keeper keeper;
    auto listener = loop->listen(Address{"127.0.0.1", 0}, keeper.acceptor(*loop));
    ASSERT_TRUE(listener);
    address = (*listener)->address();
  }
  bool inside = true;
  std::optional<Error> error;
  loop->connect(address, seconds{5}, [&](Connected stream) {
    EXPECT_FALSE(inside) << "called within connect";
    ASSERT_FALSE(stream);
    error = stream.error();
    loop->stop();
  });
  inside = false;
  run_bounded(*loop);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::kUnavailable);
  EXPECT_NE(error->message.find(to_string(address)), std::string::npos) << error->message;
  EXPECT_NE(error->message.find("refused"), std::string::npos) << error->message;
}

TEST(Connect, TimesOutWhenTheBacklogIsFull) {
  const auto loop = make_loop();
  const DeafListener deaf;
  std::vector<std::unique_ptr<Stream>> taken;
  std::optional<Error> error;
  const Instant begun = loop->now();
  // The kernel takes one or two of them into the backlog; the others hear nothing.
  for (int i = 0; i < 6; ++i) {
    loop->connect(deaf.address, milliseconds{150}, [&](Connected stream) {
      if (stream) return taken.push_back(std::move(*stream));
      error = stream.error();
      loop->stop();
    });
  }
  run_bounded(*loop);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::kTimeout);
  EXPECT_NE(error->message.find("150 ms"), std::string::npos) << error->message;
  EXPECT_GE(loop->now() - begun, milliseconds{150});
}

TEST(Connect, ResolvesNames) {
  const auto loop = make_loop();
  Keeper keeper;
  auto listener = loop->listen(Address{"localhost", 0}, keeper.acceptor(*loop));
  ASSERT_TRUE(listener) << listener.error().message;
  Address address = (*listener)->address();
  address.host = "localhost";
  bool connected = false;
  loop->connect(address, seconds{10}, [&](Connected stream) {
    connected = stream.has_value();
    EXPECT_TRUE(connected) << stream.error().message;
    loop->stop();
  });
  run_bounded(*loop);
  EXPECT_TRUE(connected);
}

TEST(Connect, UnknownHostIsUnavailable) {
  const auto loop = make_loop();
  std::optional<Error> error;
  // RFC 6761: .invalid never resolves. Without a name server it may take until the timeout.
  loop->connect(Address{"no-such-host.invalid", 1}, seconds{2}, [&](Connected stream) {
    ASSERT_FALSE(stream);
    error = stream.error();
    loop->stop();
  });
  run_bounded(*loop);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("no-such-host.invalid"), std::string::npos) << error->message;
}

TEST(Listen, WorksOnIpv6) {
  const auto loop = make_loop();
  Keeper keeper;
  auto listener = loop->listen(Address{"::1", 0}, keeper.acceptor(*loop, [&] { loop->stop(); }));
  if (!listener) GTEST_SKIP() << "no IPv6 here: " << listener.error().message;
  EXPECT_TRUE(to_string((*listener)->address()).starts_with("[::1]:"));
  loop->connect((*listener)->address(), seconds{5}, [](Connected stream) { EXPECT_TRUE(stream); });
  run_bounded(*loop);
  ASSERT_EQ(keeper.streams.size(), 1U);
  EXPECT_TRUE(keeper.streams[0]->peer().starts_with("[::1]:")) << keeper.streams[0]->peer();
}

TEST(Listen, TakenPortIsAClearError) {
  const auto loop = make_loop();
  Keeper keeper;
  auto first = loop->listen(Address{"127.0.0.1", 0}, keeper.acceptor(*loop));
  ASSERT_TRUE(first);
  auto second = loop->listen((*first)->address(), keeper.acceptor(*loop));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_NE(second.error().message.find(to_string((*first)->address())), std::string::npos);
  auto nowhere = loop->listen(Address{"192.0.2.1", 0}, keeper.acceptor(*loop));  // RFC 5737
  ASSERT_FALSE(nowhere);
}

TEST(Listen, MayBeStoppedWithinAccepted) {
  const auto loop = make_loop();
  Keeper keeper;
  std::unique_ptr<Listener> listener;
  auto made = loop->listen(Address{"127.0.0.1", 0}, keeper.acceptor(*loop, [&] {
    listener.reset();
    loop->stop();
  }));
  ASSERT_TRUE(made);
  listener = std::move(*made);
  loop->connect(listener->address(), seconds{5}, [](const Connected&) {});
  run_bounded(*loop);
  EXPECT_EQ(keeper.streams.size(), 1U);
}

// Two loops on two threads: connections are dealt in turn, each lives and talks on its loop.
TEST(Listen, HandsConnectionsToTheChosenLoop) {
  constexpr int kConnections = 20;
  const auto front = make_loop();
  const auto worker = make_loop();
  struct Echo : StreamEvents {
    std::unique_ptr<Stream> stream;
    std::thread::id thread;
    void on_bytes(std::string_view bytes) override {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      stream->send(bytes);
    }
    void on_closed(const Error&) override {}
  };
  std::mutex mutex;
  std::map<std::thread::id, std::vector<std::unique_ptr<Echo>>> echoes;
  int asked = 0;
  auto listener =
      front->listen(Address{"127.0.0.1", 0},
                    {.choose = [&]() -> Loop& { return ++asked % 2 == 0 ? *front : *worker; },
                     .accepted =
                         [&](Loop& loop, std::unique_ptr<Stream> stream) {
                           const auto me = std::this_thread::get_id();
                           auto echo = std::make_unique<Echo>();
                           echo->stream = std::move(stream);
                           echo->thread = me;
                           echo->stream->start(*echo);
                           EXPECT_TRUE(&loop == front.get() || &loop == worker.get());
                           const std::lock_guard lock(mutex);
                           echoes[me].push_back(std::move(echo));
                         }});
  ASSERT_TRUE(listener);
  std::thread thread([&] { worker->run(); });

  std::vector<std::pair<std::unique_ptr<Stream>, std::unique_ptr<Recorder>>> clients;
  int answered = 0;
  for (int i = 0; i < kConnections; ++i) {
    front->connect((*listener)->address(), seconds{5}, [&](Connected stream) {
      ASSERT_TRUE(stream);
      auto recorder = std::make_unique<Recorder>();
      recorder->bytes_hook = [&](std::string_view) {
        if (++answered == kConnections) front->stop();
      };
      (*stream)->start(*recorder);
      (*stream)->send("?");
      clients.emplace_back(std::move(*stream), std::move(recorder));
    });
  }
  run_bounded(*front);
  EXPECT_EQ(answered, kConnections);
  const auto worker_id = thread.get_id();
  std::vector<std::unique_ptr<Echo>> on_worker;
  worker->post([&] {
    echoes[worker_id].swap(on_worker);
    EXPECT_EQ(on_worker.size(), kConnections / 2U);
    on_worker.clear();  // streams die on their own loop
    worker->stop();
  });
  thread.join();
  EXPECT_EQ(echoes[std::this_thread::get_id()].size(), kConnections / 2U);
  echoes.clear();
}

// No new descriptor for anybody while it lives; open ones stay usable.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoMoreDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Listen, PausesWhenOutOfDescriptorsAndGoesOn) {
  const auto loop = make_loop();
  Keeper keeper;
  auto listener =
      loop->listen(Address{"127.0.0.1", 0}, keeper.acceptor(*loop, [&] { loop->stop(); }));
  ASSERT_TRUE(listener);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons((*listener)->address().port);
  std::optional<NoMoreDescriptors> none(std::in_place);
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  loop->after(milliseconds{50}, [&] {
    EXPECT_TRUE(keeper.streams.empty()) << "there was a descriptor left: the test tests nothing";
    none.reset();
  });
  run_bounded(*loop);
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(keeper.streams.size(), 1U);
}

}  // namespace
}  // namespace cleave::net
