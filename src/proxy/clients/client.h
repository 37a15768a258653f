// Client: one connection of a client. Cuts its bytes into requests, keeps its replies in order,
// pushes back when it does not read.
//
//   bytes --> take() --> Handler::handle(request) ... answer(request, reply) --> out_ --> flush()
//                              |                          ^
//                              +-- push() --> order ------+   a reply that comes early waits in
//                                                             its Request
//
// Threads: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/limits.h"
#include "net/loop.h"
#include "proxy/clients/request.h"
#include "proxy/facts/client_facts.h"
#include "wire/resp.h"

namespace cleave::proxy {

class Clients;

class Client final : public net::StreamEvents {
 public:
  Client(Clients& clients, std::unique_ptr<net::Stream> stream, ClientFacts facts);
  void start() { stream_->start(*this); }

  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  bool on_end() override;
  void on_closed(const Error& why) override;

  ClientFacts facts;

  // A new last place in the order of replies.
  void push(Request& request);
  // The request's reply is here: it leaves when its turn comes.
  void answer(Request& request, std::string_view reply);
  // The same in two steps, for a reply that is better written in place: append it to the buffer,
  // then say how many bytes it had.
  std::string& reply_buffer(Request& request) { return is_oldest(request) ? out_ : request.reply; }
  void answered(Request& request, std::size_t reply_bytes);
  // No request is under way.
  bool idle() const { return oldest_ == nullptr; }
  // A reply without a request, in front of whatever is under way.
  void answer_directly(std::string_view reply);

  // End of turn: writes what has gathered, then goes on reading if it had to stop.
  void flush(Instant now);
  // Takes no more requests; closes once everything so far is answered and written.
  void finish_up() { finishing_ = true; }
  // Now. Its requests go on without it.
  void close();
  bool closed() const { return closed_; }

  // After a protocol error, while more bytes come: it is closed only then, lest it never reads why.
  // To be called now and then; goes on to the end by itself.
  void tick_lingering();

  // Since when it has been too slow to be read from; 0: it is not.
  Instant stalled_since() const { return stalled_since_; }
  // Bytes of replies that it has not taken.
  std::size_t unsent() const { return out_.size() + kept_bytes_ + backlog_; }

  // In the list of clients to flush.
  bool touched = false;
  // Place in the list of clients.
  std::size_t position = 0;

 private:
  std::size_t take(std::string_view bytes);
  void take_input();
  bool may_take() const;
  bool is_oldest(const Request& request) const { return oldest_ == &request; }
  void note_reply(std::size_t bytes);
  void pop_done();
  void go_on();

  Clients& clients_;
  const Limits& limits_;
  std::unique_ptr<net::Stream> stream_;
  wire::RequestParser parser_;
  std::string input_;  // the beginning of a request, or requests that have to wait
  std::string out_;    // replies of this turn
  Request* oldest_ = nullptr;
  Request* newest_ = nullptr;
  std::size_t pending_ = 0;               // requests in the order
  std::size_t kept_bytes_ = 0;            // replies that wait for their turn
  std::size_t backlog_ = 0;               // kept by the stream at the last look
  std::size_t largest_reply_ = 0;         // since everything was last written
  std::size_t window_;                    // requests that may be under way
  std::size_t reply_bytes_expected_ = 0;  // of one reply
  Instant stalled_since_{0};
  bool stopped_ = false;            // reading is paused
  bool alone_ = false;              // a large request waits to be the only one under way, or is it
  bool ended_ = false;              // the client sends no more
  bool heard_ = false;              // bytes came since the last tick of lingering
  std::uint32_t linger_ticks_ = 0;  // still to come; 0: it does not linger
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace cleave::proxy
