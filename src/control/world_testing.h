// A pool in virtual time for tests of the control side: three servers, two routers, a coordinator,
// each of which says and does what the test wants, errors above all.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/virtual_redis_testing.h"
#include "coord/memory/memory_register.h"
#include "net/virtual_testing.h"
#include "peer/router_peer.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::control {

inline const SessionId kOurs{"r1"};
inline const SessionId kOther{"r2"};
inline constexpr NodeId kA{1};
inline constexpr NodeId kB{2};
inline constexpr NodeId kC{3};
inline constexpr const char* kMark = "pool-mark";

// What becomes of calls to the coordinator.
class ScriptedCoordinator final : public coord::Faults {
 public:
  bool away = false;             // every call is refused
  bool read_only = false;        // compare-and-sets are refused, leases too
  std::deque<Loss> next_writes;  // of the next compare-and-sets, before all goes well again
  // Run once, with the next compare-and-set: e.g. somebody else's write, which wins; and when what
  // becomes of this one is settled.
  nanoseconds slow{0};  // from a write to its effect
  std::function<void()> before_write = nullptr;
  std::function<void()> after_write = nullptr;

  Fate fate(Call call) override {
    const bool write = call == Call::kCompareAndSet;
    if (write && before_write) std::exchange(before_write, nullptr)();
    const Fate fate = fate_of(call, write);
    if (write && after_write) std::exchange(after_write, nullptr)();
    return fate;
  }

 private:
  Fate fate_of(Call call, bool write) {
    // What happens meanwhile is not heard of for a long time.
    if (away && call == Call::kWatch) return {.there = seconds{60}, .back = {}};
    if (away) return refused();
    if (read_only && (write || call == Call::kKeepAlive)) return refused();
    if (write && slow > nanoseconds{0}) return {.there = slow, .back = {}};
    if (!write || next_writes.empty()) return {};
    const Loss loss = next_writes.front();
    next_writes.pop_front();
    return {.there = {}, .back = {}, .loss = loss};
  }

  static Fate refused() { return {.there = {}, .back = {}, .loss = Loss::kRefused}; }
};

// A router as a driver asks it. By itself it agrees to everything and has nothing to tell.
class ScriptedPeer final : public peer::RouterPeer {
 public:
  explicit ScriptedPeer(net::Loop& loop) : loop_(loop) {}

  bool silent = false;                                       // takes questions and never answers
  std::function<void(const std::string&)> before = nullptr;  // runs with each question
  std::optional<Error> error;                                // its answer to everything
  std::deque<peer::DirtyBatch> dirty;  // for the next takes; their numbers are filled in
  peer::FencedAck fenced;
  std::function<std::vector<heat::Report>()> heat = [] { return std::vector<heat::Report>{}; };
  std::uint64_t keys = 0;
  std::vector<std::string> asked;    // "copying", "take 1", "fenced", "heat", "keys"
  std::vector<Epoch> epochs;         // of the questions about moves
  std::vector<std::string> watched;  // by the last take

  void await_copying(MoveId, Epoch epoch, Done<void> done) override {
    ask("copying", epoch);
    answer<void>(std::move(done), {});
  }
  void take(MoveId, Epoch epoch, const peer::TakeOrder& order,
            Done<peer::DirtyBatch> done) override {
    ask("take " + std::to_string(order.number), epoch);
    watched = order.watch;
    peer::DirtyBatch batch;
    if (!dirty.empty() && !silent && !error) {
      batch = std::move(dirty.front());
      dirty.pop_front();
    }
    batch.number = order.number;
    answer<peer::DirtyBatch>(std::move(done), std::move(batch));
  }
  void await_fenced(MoveId, Epoch epoch, Done<peer::FencedAck> done) override {
    ask("fenced", epoch);
    answer<peer::FencedAck>(std::move(done), fenced);
  }
  void take_heat(const heat::CommandPrices&, Done<std::vector<heat::Report>> done) override {
    asked.emplace_back("heat");
    answer<std::vector<heat::Report>>(std::move(done), heat());
  }
  void count_keys(Done<std::uint64_t> done) override {
    asked.emplace_back("keys");
    answer<std::uint64_t>(std::move(done), keys);
  }

  std::size_t times(const std::string& question) const {
    return static_cast<std::size_t>(std::ranges::count(asked, question));
  }

 private:
  void ask(const std::string& question, Epoch epoch) {
    asked.push_back(question);
    epochs.push_back(epoch);
    if (before) before(question);
  }
  template <class T>
  void answer(Done<T> done, Result<T> with) {
    if (silent) return;
    if (error) with = std::unexpected(*error);
    loop_.after(milliseconds{1}, [done = std::move(done), with = std::move(with)] { done(with); });
  }

  net::Loop& loop_;
};

// The routers that are known.
class ScriptedDirectory final : public peer::Directory {
 public:
  peer::RouterPeer* find(const SessionId& session) override {
    const auto found = known.find(session);
    return found == known.end() ? nullptr : found->second;
  }
  std::map<SessionId, peer::RouterPeer*> known;
};

// Nodes a, b and c at 10.0.0.1 to 3, all marked; routers r1 (ours) and r2; nobody leads.
class ScriptedWorld {
 public:
  using Servers = std::map<NodeId, backend::VirtualRedis*>;

  ScriptedWorld() {
    for (const auto& [id, server] : servers()) {
      loop.place({.host = "10.0.0." + std::to_string(id.value()), .port = 6379}, *server);
      server->values["cleave:{owner}"] = kMark;
    }
    directory.known = {{kOurs, &r1}, {kOther, &r2}};
  }
  ~ScriptedWorld() { loop.forget_all(); }
  ScriptedWorld(const ScriptedWorld&) = delete;
  ScriptedWorld& operator=(const ScriptedWorld&) = delete;

  ring::Creation creation() const {
    ring::Creation made{.pool = "main", .mark = kMark, .nodes = {}, .mode = {}, .now = {}};
    for (const auto& [id, name] : {std::pair(1, "a"), std::pair(2, "b"), std::pair(3, "c")}) {
      ring::Node node;
      node.name = name;
      node.members = {{.address = "10.0.0." + std::to_string(id) + ":6379", .rack = ""}};
      made.nodes.push_back(node);
    }
    return made;
  }

  // The document that all begins with: r1 and r2 have joined and, where told so, r1 leads.
  ring::Document first_document(bool led = true) const {
    ring::Document document = *ring::create(creation());
    for (const SessionId& session : {kOurs, kOther})
      document = *ring::join(document, {.session = session});
    if (led) document = *ring::lead(document, kOurs);
    document.epoch = Epoch{1};
    return document;
  }
  void write(const ring::Document& document) {
    const Epoch before{document.epoch.value() - 1};
    const auto written = store->compare_and_set(before, ring::to_text(document));
    ASSERT_TRUE(written) << written.error().message;
  }

  ring::Document document() const { return *ring::parse_document(store->read().text); }
  // Somebody else's change, at once.
  void change(const std::function<Result<ring::Document>(const ring::Document&)>& edit) {
    const ring::Document now = document();
    const Result<ring::Document> next = edit(now);
    ASSERT_TRUE(next) << next.error().message;
    ASSERT_TRUE(store->compare_and_set(now.epoch, ring::to_text(*next)));
  }

  Servers servers() { return {{kA, &a}, {kB, &b}, {kC, &c}}; }
  backend::VirtualRedis& server(NodeId node) { return *servers().at(node); }

  // `count` keys that `node` owns by the document, put at `at`. Their names.
  std::vector<std::string> put_keys(NodeId node, std::size_t count, NodeId at) {
    const ring::RingSnapshot view = *ring::RingView::build(document());
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < count; ++i) {
      std::string key = "key:" + std::to_string(i);
      if (view->owner(view->token_of(key)) != node) continue;
      server(at).values[key] = "value of " + key;
      keys.push_back(std::move(key));
    }
    return keys;
  }

  // Everything that the node owns.
  ring::RangeSet owned_by(NodeId node) const {
    return (*ring::RingView::build(document()))->owned_by(node);
  }

  net::VirtualLoop loop;
  backend::VirtualRedis a{"a"};
  backend::VirtualRedis b{"b"};
  backend::VirtualRedis c{"c"};
  ScriptedPeer r1{loop};
  ScriptedPeer r2{loop};
  ScriptedDirectory directory;
  std::shared_ptr<coord::MemoryStore> store = std::make_shared<coord::MemoryStore>();
  ScriptedCoordinator coordinator;
  coord::MemoryRegister access{loop, store, &coordinator};
};

}  // namespace cleave::control
