// Request: one place in a client's order of replies, from a pool.
//
//   client's order:  Request --> Request --> Request         oldest first
//                       ^           ^
//                    Command     Gathering                   one command's reply is the reply, or
//                                 ^  ^                       those of several become one
//                            Command Command
//
// It outlives its client: whoever has it answers it once, whatever happened, and it is gone then.
//
// Threads: one worker.
#pragma once

#include <string>
#include <string_view>

#include "proxy/commands/command.h"

namespace cleave::proxy {

class Client;
class Clients;

class Request final : public Asker {
 public:
  explicit Request(Clients& clients) : clients_(clients) {}

  // Its client still waits for it.
  bool wanted() const { return client != nullptr; }
  void answer(std::string_view text);        // a whole reply
  void answer_error(std::string_view text);  // without '-'
  // The same in place: `append(out)` appends the reply, and is not called when nobody waits.
  template <class Append>
  void answer_by(const Append& append);

  // ---- of one command, whose reply is the request's -------------------------------------------
  void replied(const Command& /*command*/, std::string_view raw) override { answer(raw); }
  void failed(const Command& /*command*/, const std::string& text) override { answer_error(text); }
  // Not behind a write of the same client: the read might see it.
  bool may_repeat() const override;

  void reset();

  // ---- the client's -----------------------------------------------------------------------------
  Client* client = nullptr;  // nullptr: it has gone
  Request* next = nullptr;
  std::string reply;  // kept until its turn
  bool done = false;
  bool writes = false;

 private:
  // Where the reply goes; nullptr: nowhere, and the request has gone back to its pool.
  std::string* begin_reply();
  void end_reply(std::size_t bytes);

  Clients& clients_;
};

template <class Append>
void Request::answer_by(const Append& append) {
  std::string* const out = begin_reply();
  if (out == nullptr) return;
  const std::size_t before = out->size();
  append(*out);
  end_reply(out->size() - before);
}

}  // namespace cleave::proxy
