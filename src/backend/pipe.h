// Pipe: one pipelined connection to one server, shared by whoever sends through it.
//
// It owns what the move protocol says of connections: a connection is used only after rule 5 (name
// it, learn its id and the server's incarnation, see our session in a linearizable read), and a
// command that was lost with a connection is finished only by rule 6 (the old connection's
// CLIENT KILL ID was answered by the same incarnation, or that process is gone).
//
//   send --> [queue] --> socket --> server --> reply --> on_reply                (finished)
//                |                     |
//                |                     +-- timeout: on_failed(kUnknown), tombstone ... on_finished
//                +-- never left: on_failed(kNotSent)                             (finished)
//            connection lost with replies open: on_failed(kUnknown) ... kill ... on_finished
//
// A connection that says nothing for half a request_timeout, while a new one is answered at once,
// was dropped on the way: it is given up like a lost one. An idle one is kept alive by a PING.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "base/result.h"
#include "base/rng.h"
#include "net/loop.h"

namespace cleave::backend {

// What is known of a command that has no reply.
enum class Outcome : std::uint8_t {
  kNotSent,  // none of its bytes left; it is finished
  kUnknown,  // it may have run or may run later; on_finished will follow
};

// Receives what becomes of one command. Exactly one of on_reply and on_failed comes; after
// on_failed(kUnknown) exactly one on_finished, perhaps much later. The sink must live until the
// last of them. None is called from within `send`. In all of them the pipe may be sent to, reset
// and destroyed.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void on_reply(std::string_view raw) = 0;  // valid during the call
  virtual void on_failed(const Error& why, Outcome outcome) = 0;
  virtual void on_finished() = 0;
  // The pipe was destroyed: nothing more comes. It says nothing about what becomes of the command,
  // and the pipe may not be used any more. For sinks that own themselves.
  virtual void on_dropped() {}
};

// Rule 5: what a connection must ask before it is used.
class Gate {
 public:
  virtual ~Gate() = default;
  virtual const SessionId& session() const = 0;
  // Begins a linearizable read of the document; answers on the pipe's loop once the read shows the
  // session and the caller's view is at least that read. Errors: kConflict (the session was
  // removed: never use a connection again), kUnavailable (try later).
  virtual void confirm(std::function<void(Result<void>)> done) = 0;
};

// Who the server at the other end is.
struct Identity {
  Incarnation incarnation;
  std::uint64_t connection_id = 0;
  bool primary = false;
  std::string version;
};

// How to log in at a server.
struct Credentials {
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
};

// Counters since the pipe was made.
struct PipeStats {
  std::uint64_t sent = 0;
  std::uint64_t replies = 0;
  std::uint64_t failed = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t reconnects = 0;  // connections that became usable: also a name for the current one
  // Sums: over `handed`, how long they waited to be sent, at most (as the oldest of their batch);
  // over `replies`, how long from there to the reply.
  std::uint64_t handed = 0;
  nanoseconds queued{0};
  nanoseconds served{0};
};

class Pipe {
 public:
  struct Options {
    net::Address address;
    Credentials credentials;
    Limits limits;
    // Runs on each change between usable and not.
    std::function<void(bool usable)> on_state;
    Mutations mutations{};  // all false outside the simulator
  };

  // Connects by itself and again after each loss, with back-off and jitter from `rng`.
  Pipe(net::Loop& loop, Gate& gate, Rng rng, Options options);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // One command (or several that give `replies` replies, of which the sink sees the last). Written
  // at the end of the turn, with everything else of the turn. While the pipe is not usable it waits
  // for the connection, at most request_timeout; when it has failed to connect before, it is failed
  // at once (in the next turn).
  void send(std::string_view bytes, ReplySink& sink, std::uint32_t replies = 1);

  // Fails everything that waits or is in flight and reconnects now (an operator's or prober's
  // order).
  void reset(const Error& why);

  bool usable() const;
  // Usable, and its oldest command has not timed out.
  bool responsive() const;
  // Commands that are not finished by rule 6: in flight, tombstones, and lost ones not yet killed.
  std::size_t unfinished() const;
  // Of the current connection; nullptr while there is none. Within on_reply and on_failed(kUnknown)
  // it is that of the connection which carried the command.
  const Identity* identity() const;
  const PipeStats& stats() const;
  std::string last_error() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared only with its own callbacks: it may die in one of them
};

}  // namespace cleave::backend
