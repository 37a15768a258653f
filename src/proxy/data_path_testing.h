// What the tests of the router share: real servers, a router on threads of its own, documents
// edited by hand, a gate that is always open.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/redis_testing.h"
#include "net/asio_loop.h"
#include "proxy/data_path.h"
#include "ring/document/document.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::proxy {

using backend::eventually;
using backend::OpenGate;
using backend::RawClient;
using backend::RedisServer;

// A loop with its thread.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_->run(); }) {}
  ~LoopThread() {
    loop_->stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  net::AsioLoop& loop() { return *loop_; }

  // Runs `function` there and waits for it.
  template <class Function>
  auto run(Function function) -> decltype(function()) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto result = task.get_future();
    loop_->post([&task] { task(); });
    return result.get();
  }

 private:
  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  std::thread thread_;
};

// Writes down what it was asked for.
class Keeper final : public FenceKeeper {
 public:
  void abort_held_move(MoveId move, Epoch phase_epoch) override {
    const std::lock_guard lock(mutex_);
    asked_.emplace_back(move, phase_epoch);
  }
  std::vector<std::pair<MoveId, Epoch>> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<MoveId, Epoch>> asked_;
};

// Answers what it is told to.
class FixedCounter final : public peer::KeyCounter {
 public:
  void count_keys(Counted done) override {
    if (silent) return;
    done(answer);
  }
  void count_as_leader(Counted done) override { done(answer); }

  bool silent = false;
  Result<std::uint64_t> answer = fail(Code::kUnavailable, "nobody leads");
};

// What a DataPathWorld is made of.
struct Setup {
  std::size_t nodes = 3;
  std::size_t workers = 1;
  Limits limits{};
  std::string password{};
};

// Servers, router and document of one test.
class DataPathWorld {
 public:
  explicit DataPathWorld(Setup setup = {}) {
    for (std::size_t i = 0; i < setup.nodes; ++i) {
      servers.push_back(std::make_unique<RedisServer>());
    }
    for (std::size_t i = 0; i < setup.workers; ++i) {
      workers_.push_back(std::make_unique<LoopThread>());
    }
    make_document();
    std::vector<net::Loop*> loops;
    for (const auto& worker : workers_) loops.push_back(&worker->loop());
    control_.run([&] {
      router_ = std::make_unique<DataPath>(DataPath::Options{
          .control = control_.loop(),
          .workers = loops,
          .listen = {{.host = "127.0.0.1", .port = 0}},
          .gate = gate_,
          .fence_keeper = keeper,
          .key_counter = counter,
          .credentials = {},
          .client_password = setup.password,
          .limits = setup.limits,
          .seed = 1,
      });
    });
    std::promise<Result<void>> ready;
    control_.run(
        [&] { router_->start(view(), [&](const Result<void>& done) { ready.set_value(done); }); });
    const Result<void> started = ready.get_future().get();
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    port = control_.run([&] { return router_->addresses().front().port; });
  }
  ~DataPathWorld() {
    control_.run([&] { router_.reset(); });
    // Each worker dies on its own loop, by a callback posted just now.
    for (const auto& worker : workers_) worker->run([] {});
  }
  DataPathWorld(const DataPathWorld&) = delete;
  DataPathWorld& operator=(const DataPathWorld&) = delete;

  RawClient client() const { return RawClient(port); }

  ring::RingSnapshot view() const { return *ring::RingView::build(document); }
  // The next document becomes the router's view.
  void publish(const Result<ring::Document>& next) {
    ASSERT_TRUE(next.has_value()) << next.error().message;
    document = *next;
    control_.run([&] { router_->set_view(view()); });
  }

  // Which server of `servers` owns the key now.
  std::size_t owner(std::string_view key) const {
    const ring::RingSnapshot now = view();
    return now->owner(now->token_of(key)).value() - 1;
  }
  Token token(std::string_view key) const { return view()->token_of(key); }
  std::string stored(std::size_t server, std::string_view key) const {
    return servers[server]->client().ask({"GET", key});
  }
  // A key like "k17" that the server owns.
  std::string key_of(std::size_t server, int from = 0) const {
    for (int i = from;; ++i) {
      std::string key = "k" + std::to_string(i);
      if (owner(key) == server) return key;
    }
  }

  static NodeId node(std::size_t server) { return NodeId{static_cast<std::uint32_t>(server + 1)}; }

  // A move of the key's token alone, in COPYING.
  MoveId begin_move(std::string_view key, std::size_t to) {
    publish(ring::begin_move(document, {.ranges = {{token(key), token(key)}},
                                        .source = node(owner(key)),
                                        .destination = node(to),
                                        .reason = "test",
                                        .now = UnixMillis{1}}));
    return document.moves.back().id;
  }
  Epoch phase_epoch(MoveId move) const { return ring::find_move(document, move)->phase_epoch; }
  void fence(MoveId move) {
    document = *ring::enter_copies(document, move, phase_epoch(move), UnixMillis{1});
    publish(ring::fence_move(document, move, phase_epoch(move)));
  }
  void commit(MoveId move) {
    const ring::Holder holder{.incarnation = {.run_id = "run", .replication_id = "repl"}};
    publish(ring::commit_move(document, move, phase_epoch(move), holder, UnixMillis{2}));
  }
  // What the last move left behind is gone.
  void clean() {
    const auto last = [this] { return document.leftovers.back(); };
    document = *ring::begin_cleaning(document, last());
    publish(ring::drop_leftover(document, last()));
  }
  void abort(MoveId move) { publish(ring::abort_move(document, move, phase_epoch(move))); }

  // ---- questions, answered in a future --------------------------------------------------------
  std::future<Result<void>> await_copying(MoveId move, Epoch phase_epoch) {
    return ask<void>(
        [=](DataPath& router, auto done) { router.await_copying(move, phase_epoch, done); });
  }
  std::future<Result<peer::DirtyBatch>> take(MoveId move, Epoch phase_epoch, std::uint64_t number) {
    return ask<peer::DirtyBatch>(
        [=](DataPath& router, auto done) { router.take(move, phase_epoch, number, done); });
  }
  std::future<Result<peer::FencedAck>> await_fenced(MoveId move, Epoch phase_epoch) {
    return ask<peer::FencedAck>(
        [=](DataPath& router, auto done) { router.await_fenced(move, phase_epoch, done); });
  }
  std::vector<heat::Report> heat(const heat::CommandPrices& prices = {}) {
    return *ask<std::vector<heat::Report>>([&](DataPath& router, auto done) {
              router.take_heat(prices, done);
            }).get();
  }
  RouterStats stats() {
    std::promise<RouterStats> told;
    control_.run([&] { router_->stats([&](RouterStats now) { told.set_value(std::move(now)); }); });
    return told.get_future().get();
  }
  std::vector<NodeHealth> health() {
    return control_.run([&] { return router_->health(); });
  }
  void stop(const Error& why) {
    control_.run([&] { router_->stop(why); });
  }

  std::vector<std::unique_ptr<RedisServer>> servers;
  Keeper keeper;
  FixedCounter counter;
  ring::Document document;
  std::uint16_t port = 0;

 private:
  void make_document() {
    ring::Creation creation{.pool = "main", .mark = "mark-1", .nodes = {}, .now = UnixMillis{1}};
    for (std::size_t i = 0; i < servers.size(); ++i) {
      creation.nodes.push_back(
          {.id = NodeId{},
           .name = std::string(1, static_cast<char>('a' + i)),
           .members = {{.address = net::to_string(servers[i]->address()), .rack = {}}}});
    }
    document = *ring::create(creation);
  }

  template <class T, class Question>
  std::future<Result<T>> ask(Question question) {
    const auto told = std::make_shared<std::promise<Result<T>>>();
    control_.run([&] {
      question(*router_, [told](Result<T> answer) { told->set_value(std::move(answer)); });
    });
    return told->get_future();
  }

  LoopThread control_;
  std::vector<std::unique_ptr<LoopThread>> workers_;
  OpenGate gate_{control_.loop()};
  std::unique_ptr<DataPath> router_;
};

}  // namespace cleave::proxy
