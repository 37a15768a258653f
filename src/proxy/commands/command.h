// Command: what is sent to one node, until it is finished (protocol rule 6).
//
//   Asker <-- replied, failed --- Command <-- replied, failed, finished, dropped --- pipe or lane
//     who wants to know             its CommandOwner is told everything
//
// Its Asker may be told long before it is finished (a timeout), and it may outlive its client: it
// keeps what rules 10 and 11 need to know about it.
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
#include "ring/view/view.h"

namespace cleave::proxy {

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

// Who asked for a command. Told once, by `replied` or `failed`, and never again; the command is not
// the asker's any more then.
class Asker {
 public:
  virtual void replied(const Command& command, std::string_view raw) = 0;
  // `text` is without '-'.
  virtual void failed(const Command& command, const std::string& text) = 0;
  // A read whose connection broke may be sent again: somebody still waits for it, and would not see
  // by it what came after it.
  virtual bool may_repeat() const { return false; }
  // Of a command that is held as a whole (Command::whole): nothing is fenced now, so it may go in
  // parts. The asker sends those within the call; the whole ends with it, and `raw`, its bytes.
  virtual void released(const Command& /*whole*/, std::string_view /*raw*/) {}

 protected:
  ~Asker() = default;
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
    kKeyed,  // goes where its keys are
    kNode,   // a question to one node, of no range
    kFlush,  // FLUSHALL, of all nodes or as the part of one: touches every range
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
  // It goes to no node: when it may go, its asker sends its parts.
  bool whole() const { return kind == Kind::kFlush && node == NodeId{}; }

  void reset();

  Kind kind = Kind::kKeyed;
  bool writes = false;
  bool whole_bytes = false;  // `bytes` is the whole command and can be sent (again)
  bool retried = false;
  bool script = false;      // it may touch keys that it does not name
  bool subtracted = false;  // fan-out: its number is taken off the sum
  std::uint32_t replies = 1;
  Asker* asker = nullptr;         // nullptr: told already
  NodeId node;                    // not kKeyed: whose it is; 0: see `whole`
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

  // The list of unfinished commands.
  Command* previous = nullptr;
  Command* next = nullptr;

 private:
  CommandOwner& owner_;
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
