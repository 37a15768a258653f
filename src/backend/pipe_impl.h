// The inside of Pipe: one class over two files, pipe.cc (the queue) and pipe_link.cc (the
// connection's life).
//
//             +-----------------------------------------------+
//             v                                               | lost, with back-off
//   kDown --> kConnecting --> kGreeting --> kProving --> kReady
//                 (TCP)      (who are you)  (gate and       |
//                                            old kills)     +--> kRefused: the session was removed
//
// The queue is one Fifo. Its front part was handed to the socket and waits for replies, the first
// `expired_` of it as tombstones; its back part waits, with its bytes in `waiting_`:
//
//   queue_:  [ tombstones | in flight ............ | waiting .......... ]
//            0         expired_                  sent_              size()
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/fifo.h"
#include "backend/pipe.h"
#include "backend/rival.h"
#include "wire/resp.h"

namespace cleave::backend {

class Pipe::Impl final : public net::StreamEvents,
                         public net::TurnEnd,
                         public std::enable_shared_from_this<Pipe::Impl> {
 public:
  Impl(net::Loop& loop, Gate& gate, Rng rng, Options options);

  void open();
  // The handle dies: tells every sink and never calls anybody again.
  void shut();

  void send(std::string_view bytes, ReplySink& sink, std::uint32_t replies);
  void reset(const Error& why);

  bool usable() const { return state_ == State::kReady; }
  bool responsive() const { return usable() && expired_ == 0; }
  std::size_t unfinished() const;
  const Identity* identity() const { return identified_ ? &identity_ : nullptr; }
  const PipeStats& stats() const { return stats_; }
  const std::string& last_error() const { return last_error_; }

  void on_bytes(std::string_view bytes) override;
  void on_drained() override { backlog_ = 0; }
  void on_closed(const Error& why) override;
  void on_turn_end() override;

 private:
  enum class State : std::uint8_t {
    kDown,
    kConnecting,
    kGreeting,
    kProving,
    kReady,
    kRefused,
    kShut,
  };

  struct Pending {
    ReplySink* sink = nullptr;
    Instant since{0};  // waiting: since the enqueue; sent: since the send
    std::size_t bytes = 0;
    std::uint32_t replies = 1;  // still to come
  };

  // A connection that died with commands open, until rule 6 says that they are finished.
  struct Lost {
    std::string run_id;
    std::uint64_t connection_id = 0;
    std::vector<ReplySink*> sinks;
  };

  struct Failure {
    ReplySink* sink = nullptr;
    Error why;
  };

  // Of a PING that keeps an idle connection alive.
  struct Nobody final : ReplySink {
    void on_reply(std::string_view /*raw*/) override {}
    void on_failed(const Error& /*why*/, Outcome /*outcome*/) override {}
    void on_finished() override {}
  };

  // ---- pipe.cc: the queue -------------------------------------------------------------------
  std::size_t consume(std::string_view bytes);
  void take_reply(std::string_view raw);
  void answer_front(std::string_view raw);
  void fail_soon(ReplySink& sink, Error why);
  void run_failures();
  void fail_waiting(const Error& why);
  void arm_ticks();
  void on_tick();
  void note_sending(Instant now);
  bool overdue(const Pending& pending, milliseconds most, Instant now) const;
  void expire_sent(Instant now);
  void expire_waiting(Instant now);
  void doubt_silence(Instant now);
  void ask_rival();
  void give_up_silent();
  void bury_in_flight(const Error& why, std::uint64_t bytes_left);
  void tell_lost(const std::vector<ReplySink*>& sinks, const Error& why);

  // ---- pipe_link.cc: the connection ---------------------------------------------------------
  void connect_after(nanoseconds delay);
  void connect();
  void greet(std::unique_ptr<net::Stream> stream);
  void take_greeting_reply(std::string_view raw);
  void prove();
  void kill_lost();
  void take_kill_reply(std::string_view raw);
  void ask_gate();
  void take_verdict(const Result<void>& verdict);
  void ready_if_proved();
  void keep_alive();
  std::string unasked_words() const;
  // The connection is gone, or must go.
  void lose(const Error& reason);
  void back_off();
  void refuse(const Error& why);
  void set_state(State state);
  void forget_timer(net::TimerId& timer);
  std::string place() const { return net::to_string(options_.address); }

  // A callback that does nothing once the pipe or the connection it was made for is gone.
  template <class Function>
  auto guarded(Function function) {
    return [weak = weak_from_this(), life = life_, function = std::move(function)](auto&&... args) {
      const std::shared_ptr<Impl> self = weak.lock();
      if (self != nullptr && self->life_ == life && self->state_ != State::kShut) {
        function(*self, std::forward<decltype(args)>(args)...);
      }
    };
  }

  net::Loop& loop_;
  Gate& gate_;
  Rng rng_;
  Options options_;
  State state_ = State::kDown;
  std::uint64_t life_ = 0;  // counts connection attempts; names the current one
  std::unique_ptr<net::Stream> stream_;
  Identity identity_;
  bool identified_ = false;

  Fifo<Pending> queue_;
  std::size_t sent_ = 0;
  std::size_t expired_ = 0;
  std::string waiting_;       // bytes of the back part of the queue
  Instant waiting_since_{0};  // the oldest of them
  std::uint64_t handed_ = 0;  // bytes given to stream_ since it was made
  std::size_t backlog_ = 0;   // of them, kept by the stream at the last look
  bool flush_asked_ = false;
  std::string partial_;          // the beginning of a reply whose end is still to come
  Instant moved_at_{0};          // when a part of a large request or reply last went over
  std::uint64_t left_seen_ = 0;  // bytes that had left at the last tick
  Instant heard_at_{0};          // when bytes last came
  wire::ReplyScanner scanner_;
  std::shared_ptr<Rival> rival_;  // nullptr: the silence is not doubted
  Instant rival_since_{0};
  Nobody nobody_;

  std::vector<Failure> failures_;  // to be told in the next turn
  std::vector<Lost> lost_;
  std::size_t lost_open_ = 0;  // sinks in lost_

  std::vector<wire::Reply> greeting_;
  std::size_t greeting_wanted_ = 0;
  std::vector<std::uint64_t> kills_;  // connection ids whose kill is under way, in order
  bool confirmed_ = false;

  bool failing_ = false;        // the last attempt failed: what comes is failed at once
  std::uint32_t attempts_ = 0;  // since a connection last worked for a while
  Instant ready_since_{0};
  std::string last_error_;
  PipeStats stats_;
  net::TimerId tick_;
  net::TimerId connect_timer_;
  net::TimerId greeting_timer_;
  net::TimerId idle_timer_;
};

}  // namespace cleave::backend
