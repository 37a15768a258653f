// A loop in virtual time and one server behind it, for the tests of the generator: no clock, no
// socket, every run the same. (The whole product runs in sim/; this is the least that a client of
// one server needs.)
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "wire/resp.h"

namespace cleave::loadgen {

// Virtual time and connections to a scripted server.
class FakeLoop final : public net::Loop {
 public:
  Instant now() const override { return now_; }
  UnixMillis wall_now() const override { return UnixMillis{1}; }
  void post(Callback callback) override { after(nanoseconds{0}, std::move(callback)); }
  void at_turn_end(net::TurnEnd& turn_end) override {
    if (std::ranges::find(turn_ends_, &turn_end) == turn_ends_.end()) {
      turn_ends_.push_back(&turn_end);
    }
  }
  void forget_turn_end(net::TurnEnd& turn_end) override { std::erase(turn_ends_, &turn_end); }
  net::TimerId after(nanoseconds delay, Callback callback) override {
    const std::uint64_t id = ++last_id_;
    timers_.emplace(std::pair(now_ + delay, id), std::move(callback));
    return net::TimerId{id};
  }
  void cancel(net::TimerId timer) override {
    std::erase_if(timers_, [&](const auto& each) { return each.first.second == timer.value(); });
  }
  void connect(const net::Address& address, milliseconds timeout, Connected done) override;
  Result<std::unique_ptr<net::Listener>> listen(const net::Address&, Acceptor) override {
    return fail(Code::kUnavailable, "nobody listens here");
  }

  // Runs until nothing is left to do or `done`.
  void run(const bool& done) {
    while (!done && !timers_.empty()) {
      auto first = timers_.extract(timers_.begin());
      now_ = std::max(now_, first.key().first);
      first.mapped()();
      while (!turn_ends_.empty()) {
        net::TurnEnd* const due = turn_ends_.front();
        turn_ends_.erase(turn_ends_.begin());
        due->on_turn_end();
      }
    }
  }

  class FakeServer* server = nullptr;

 private:
  Instant now_{seconds{1}};
  std::uint64_t last_id_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, Callback> timers_;
  std::vector<net::TurnEnd*> turn_ends_;
};

// GET, SET [PX], DEL, INCR, one after the other; answers after `latency`.
class FakeServer {
 public:
  explicit FakeServer(FakeLoop& loop) : loop_(loop) { loop.server = this; }

  bool refuses = false;              // connections
  bool silent = false;               // does what it is told and says nothing
  std::uint64_t forgets_one_in = 0;  // writes that are answered and not done; 0: none
  milliseconds latency{1};
  std::vector<std::string> log;  // of requests, in order
  std::map<std::string, std::uint64_t> requests_by_key;
  std::map<std::uint16_t, std::uint64_t> sends_by_port;  // on which its clients reached it

  void break_connections();

  // The reply, or nothing.
  std::string answer(std::span<const std::string_view> args) {
    std::string out;
    const std::string name(args[1]);
    log.push_back(std::string(args[0]) + ' ' + name);
    ++requests_by_key[name];
    const auto found = items_.find(name);
    if (found != items_.end() && found->second.gone <= loop_.now()) items_.erase(found);
    if (args[0] == "GET") {
      items_.contains(name) ? wire::append_bulk(out, items_[name].value) : wire::append_null(out);
      return silent ? "" : out;
    }
    const bool existed = items_.contains(name);
    const Item before = existed ? items_[name] : Item{};
    write(args, name, out);
    if (forgets_one_in > 0 && ++writes_ % forgets_one_in == 0) {
      existed ? void(items_[name] = before) : void(items_.erase(name));
    }
    return silent ? "" : out;
  }

 private:
  friend class FakeStream;
  struct Item {
    std::string value{};
    Instant gone = Instant::max();
  };

  void write(std::span<const std::string_view> args, const std::string& name, std::string& out) {
    if (args[0] == "SET") {
      items_[name] = {.value = std::string(args[2])};
      if (args.size() == 5)
        items_[name].gone = loop_.now() + milliseconds{std::stoi(std::string(args[4]))};
      wire::append_status(out, "OK");
    } else if (args[0] == "DEL") {
      wire::append_integer(out, items_.erase(name) > 0 ? 1 : 0);
    } else {
      Item& item = items_[name];
      item.value = std::to_string(item.value.empty() ? 1 : std::stoll(item.value) + 1);
      wire::append_integer(out, std::stoll(item.value));
    }
  }

  FakeLoop& loop_;
  std::map<std::string, Item> items_;
  std::uint64_t writes_ = 0;
  std::vector<class FakeStream*> streams_;
};

// One of its connections.
class FakeStream final : public net::Stream {
 public:
  FakeStream(FakeLoop& loop, FakeServer& server, std::uint16_t port)
      : loop_(loop), server_(server), port_(port) {
    server_.streams_.push_back(this);
  }
  ~FakeStream() override { std::erase(server_.streams_, this); }

  void start(net::StreamEvents& events) override { events_ = &events; }
  void send(std::string_view bytes) override {
    pending_ += bytes;
    ++server_.sends_by_port[port_];
    wire::Request request;
    std::string replies;
    for (;;) {
      const auto taken = parser_.parse(pending_, request);
      if (!taken || *taken == 0) break;
      replies += server_.answer(request.args);
      pending_.erase(0, *taken);
    }
    const std::weak_ptr<int> alive = alive_;
    loop_.after(server_.latency, [this, alive, replies] {
      if (!alive.expired() && !replies.empty()) events_->on_bytes(replies);
    });
  }
  std::size_t unsent() const override { return 0; }
  std::uint64_t sent_total() const override { return 0; }
  void pause_reading() override {}
  void resume_reading() override {}
  void close() override {}
  std::string peer() const override { return "fake:1"; }

  void break_off() {
    const std::weak_ptr<int> alive = alive_;
    loop_.post([this, alive] {
      if (!alive.expired()) events_->on_closed({Code::kUnavailable, "broken"});
    });
  }

 private:
  FakeLoop& loop_;
  FakeServer& server_;
  std::uint16_t port_;
  net::StreamEvents* events_ = nullptr;
  wire::RequestParser parser_{Limits{}};
  std::string pending_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

inline void FakeLoop::connect(const net::Address& address, milliseconds, Connected done) {
  after(milliseconds{1}, [this, port = address.port, done = std::move(done)] {
    if (server->refuses) return done(fail(Code::kUnavailable, "refused"));
    done(std::make_unique<FakeStream>(*this, *server, port));
  });
}

inline void FakeServer::break_connections() {
  for (FakeStream* stream : streams_) stream->break_off();
}

}  // namespace cleave::loadgen
