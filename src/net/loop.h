// Loop, Stream, Listener: the one door to time, threads and sockets.
//
// Two worlds implement it: net/asio_loop.cc on Boost.Asio, sim/ in virtual time. Everything above
// (backend, proxy, peer, control) is written against this header only, so the simulator runs the
// unmodified product.
//
// Threads: a Loop belongs to one thread; of its functions only `post` may be called from others.
// Callbacks run on the loop's thread, never inside the call that asked for them (except on_turn).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"

namespace cleave::net {

// "host:port" with a numeric or resolvable host; "[::1]:6379" for IPv6.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend auto operator<=>(const Address&, const Address&) = default;
};

// Errors: kInvalid, names the text.
Result<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

// Events of one stream. The stream may be destroyed or closed inside any of them.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;
  // The bytes are valid during the call only.
  virtual void on_bytes(std::string_view bytes) = 0;
  // All that `send` had to keep is written.
  virtual void on_drained() {}
  // The peer sends no more, but may read on. True: the stream stays, the owner closes it when it
  // has answered; false: it ends, as `on_closed` says.
  virtual bool on_end() { return false; }
  // The peer closed or the connection broke. Said once, last; not said after our own `close`.
  virtual void on_closed(const Error& why) = 0;
};

// One connection. Destroying it closes it; no event comes after that.
class Stream {
 public:
  virtual ~Stream() = default;
  // Begins reading; to be called once.
  virtual void start(StreamEvents& events) = 0;
  // Writes what the socket takes now and keeps the rest in order. Nothing happens once closed.
  virtual void send(std::string_view bytes) = 0;
  // Bytes that are kept. Zero means: everything was handed to the kernel.
  virtual std::size_t unsent() const = 0;
  // Bytes handed to the kernel since the start. A request none of whose bytes left was not sent.
  virtual std::uint64_t sent_total() const = 0;
  // While paused nothing is read, so TCP pushes back on the peer; that it closed may be noticed
  // only after `resume_reading`.
  virtual void pause_reading() = 0;
  virtual void resume_reading() = 0;
  virtual void close() = 0;
  virtual std::string peer() const = 0;  // "127.0.0.1:50412"
};

// Destroying it stops accepting. What was accepted for another loop before may still arrive there,
// until that loop has run what is posted to it afterwards.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual Address address() const = 0;  // with the real port where 0 was asked for
};

// A callback that runs at the end of a turn. An object, not a std::function, so that asking for it
// on every turn allocates nothing.
class TurnEnd {
 public:
  virtual ~TurnEnd() = default;
  virtual void on_turn_end() = 0;
};

// 0 = no timer.
using TimerId = Strong<struct TimerIdTag, std::uint64_t>;

class Loop : public Clock {
 public:
  using Callback = std::function<void()>;
  using Connected = std::function<void(Result<std::unique_ptr<Stream>>)>;

  // Any thread. Runs in order of posting.
  virtual void post(Callback callback) = 0;

  // Once, when the events that are ready now have been handled: the place to write what they
  // gathered, in one system call. A TurnEnd asked for twice in a turn runs once. It must stay alive
  // until it ran or `forget_turn_end` was called.
  virtual void at_turn_end(TurnEnd& turn_end) = 0;
  virtual void forget_turn_end(TurnEnd& turn_end) = 0;

  virtual TimerId after(nanoseconds delay, Callback callback) = 0;
  virtual void cancel(TimerId timer) = 0;  // a timer that ran or is unknown: nothing happens

  // Errors: kUnavailable (refused, unreachable, name unknown), kTimeout.
  virtual void connect(const Address& address, milliseconds timeout, Connected done) = 0;

  // Whose loop a new connection lives on, asked on this loop at each accept, and what to do with it
  // there (runs on the chosen loop's thread). Errors: kUnavailable when the address cannot be had.
  struct Acceptor {
    std::function<Loop&()> choose;
    std::function<void(Loop&, std::unique_ptr<Stream>)> accepted;
    // Nothing is accepted while the process could open fewer descriptors than this.
    std::size_t descriptors_kept = 0;
    // Accepting pauses for want of descriptors or memory (true), or goes on (false); on this loop.
    std::function<void(bool)> paused = nullptr;
  };
  virtual Result<std::unique_ptr<Listener>> listen(const Address& address, Acceptor acceptor) = 0;
};

}  // namespace cleave::net
