// The two things that a worker is full of, both from pools:
//
//   Request   one place in a client's order of replies
//   Command   what is sent to one node for it, until it is finished (protocol rule 6)
//
//   client's order:  Request --> Request --> Request         oldest first
//                       ^           ^  ^
//                    Command   Command Command               one, or one a node (fan-out)
//
// A request may be answered long before its command is finished (a timeout), and a command may
// outlive its client: it keeps what rules 10 and 11 need to know about it.
//
// Threads: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/pipe.h"
#include "base/ids.h"
#include "heat/cost.h"
#include "proxy/fan_out.h"
#include "ring/view/view.h"

namespace cleave::proxy {

class Client;
class Command;
struct NodeLink;

// Who sends commands, and is told what becomes of them (see backend::ReplySink).
class CommandOwner {
 public:
  virtual void replied(Command& command, std::string_view raw) = 0;
  virtual void failed(Command& command, const Error& why, backend::Outcome outcome) = 0;
  virtual void finished(Command& command) = 0;
  virtual void dropped(Command& command) = 0;

 protected:
  ~CommandOwner() = default;
};

struct Request {
  Client* client = nullptr;  // nullptr: it has gone
  Request* next = nullptr;
  std::string reply;  // kept until its turn
  bool done = false;
  bool writes = false;
  FanOut fan_out;  // not active: one command's reply is the reply

  void reset();
};

// A key of a command; its bytes lie in Command::bytes.
struct KeyRef {
  Token token;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

class Command final : public backend::ReplySink {
 public:
  enum class Kind : std::uint8_t {
    kKeyed,    // goes where its keys are
    kSize,     // DBSIZE of a node
    kLasting,  // how many of these keys are the router's own
    kFlush,    // FLUSHALL, of all nodes or as the part of one: touches every range
  };

  explicit Command(CommandOwner& owner) : owner_(owner) {}

  void on_reply(std::string_view raw) override { owner_.replied(*this, raw); }
  void on_failed(const Error& why, backend::Outcome outcome) override {
    owner_.failed(*this, why, outcome);
  }
  void on_finished() override { owner_.finished(*this); }
  void on_dropped() override { owner_.dropped(*this); }

  std::string_view key(const KeyRef& ref) const {
    return std::string_view(bytes).substr(ref.offset, ref.size);
  }
  // It cannot be said which keys it touches: all of them.
  bool whole_range() const { return kind == Kind::kFlush; }

  void reset();

  Kind kind = Kind::kKeyed;
  bool writes = false;
  bool whole_bytes = false;  // `bytes` is the whole command and can be sent (again)
  bool retried = false;
  bool script = false;  // it may touch keys that it does not name
  std::uint32_t replies = 1;
  Request* request = nullptr;     // nullptr: answered already, or the client has gone
  NodeId node;                    // not kKeyed: whose it is; 0: a flush that is in no parts yet
  NodeLink* link = nullptr;       // set when sent
  backend::Pipe* pipe = nullptr;  // of `link`: the one that carries it
  std::string bytes;              // the whole command, or its keys one after another
  std::vector<KeyRef> keys;
  std::vector<std::uint32_t> places;  // fan-out: of its keys among the request's
  // Of a write that touches no more of its keys; nullptr: all of them (rule 27).
  std::unique_ptr<std::vector<std::string>> elements;
  std::uint64_t request_bytes = 0;
  std::uint32_t command_ns = heat::kCommandNsDefault;  // what it costs its server, without bytes
  Epoch epoch;                                         // of the view that `index` belongs to
  ring::RangeIndex index;                              // of the first key
  Instant held_since{0};

  // The worker's list of unfinished commands.
  Command* previous = nullptr;
  Command* next = nullptr;

 private:
  CommandOwner& owner_;
};

// Objects that are used again instead of being freed. Keeps at most `kept_max` of them.
template <class T>
class Pool {
 public:
  explicit Pool(std::size_t kept_max) : kept_max_(kept_max) {}

  template <class... Args>
  T* get(Args&... args) {
    if (free_.empty()) return std::make_unique<T>(args...).release();
    T* object = free_.back().release();
    free_.pop_back();
    return object;
  }

  // The object is as new afterwards.
  void put(T* object) {
    std::unique_ptr<T> owned(object);
    if (free_.size() >= kept_max_) return;
    owned->reset();
    free_.push_back(std::move(owned));
  }

 private:
  std::size_t kept_max_;
  std::vector<std::unique_ptr<T>> free_;
};

// Commands that were sent and are not finished, in no order.
class CommandList {
 public:
  bool empty() const { return first_ == nullptr; }
  Command* first() const { return first_; }

  void add(Command& command) {
    command.previous = nullptr;
    command.next = first_;
    if (first_ != nullptr) first_->previous = &command;
    first_ = &command;
  }
  void remove(Command& command) {
    (command.previous == nullptr ? first_ : command.previous->next) = command.next;
    if (command.next != nullptr) command.next->previous = command.previous;
    command.previous = nullptr;
    command.next = nullptr;
  }

 private:
  Command* first_ = nullptr;
};

}  // namespace cleave::proxy
