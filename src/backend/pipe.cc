#include "backend/pipe.h"

#include <algorithm>
#include <utility>

#include "backend/pipe_impl.h"
#include "base/check.h"

namespace cleave::backend {
namespace {

// How exactly time-outs are kept. Coarse, because the timer is the pipe's and not the command's.
constexpr milliseconds kTickMax{20};
// A shorter silence says nothing.
constexpr milliseconds kSilenceMin{100};
// How long a silent connection may still answer when a new one has been answered, and how often a
// new one is tried.
constexpr milliseconds kRivalGrace{50};
constexpr milliseconds kRivalPause{1'000};
// A write buffer that has grown beyond this is given back once it is written.
constexpr std::size_t kKeptBytes = std::size_t{256} << 10U;

std::string text_of(milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

Pipe::Pipe(net::Loop& loop, Gate& gate, Rng rng, Options options)
    : impl_(std::make_shared<Impl>(loop, gate, rng, std::move(options))) {
  impl_->open();
}
Pipe::~Pipe() { impl_->shut(); }

void Pipe::send(std::string_view bytes, ReplySink& sink, std::uint32_t replies) {
  impl_->send(bytes, sink, replies);
}
void Pipe::reset(const Error& why) { impl_->reset(why); }
bool Pipe::usable() const { return impl_->usable(); }
bool Pipe::responsive() const { return impl_->responsive(); }
std::size_t Pipe::unfinished() const { return impl_->unfinished(); }
const Identity* Pipe::identity() const { return impl_->identity(); }
const PipeStats& Pipe::stats() const { return impl_->stats(); }
std::string Pipe::last_error() const { return impl_->last_error(); }

Pipe::Impl::Impl(net::Loop& loop, Gate& gate, Rng rng, Options options)
    : loop_(loop),
      gate_(gate),
      rng_(rng),
      options_(std::move(options)),
      scanner_(options_.limits) {}

std::size_t Pipe::Impl::unfinished() const { return queue_.size() + lost_open_ + failures_.size(); }

void Pipe::Impl::send(std::string_view bytes, ReplySink& sink, std::uint32_t replies) {
  CHECK(replies > 0 && !bytes.empty());
  ++stats_.sent;
  if (failing_) return fail_soon(sink, Error{Code::kUnavailable, last_error_});
  if (queue_.size() >= options_.limits.pipe_pending_max ||
      waiting_.size() + backlog_ > options_.limits.pipe_unsent_bytes_max) {
    return fail_soon(sink, Error{Code::kExhausted, place() + ": too much waits to be sent"});
  }
  Pending pending{.sink = &sink, .bytes = bytes.size(), .replies = replies};
  if (waiting_.empty()) waiting_since_ = loop_.now();
  waiting_.append(bytes);
  if (state_ == State::kReady) {
    if (!std::exchange(flush_asked_, true)) loop_.at_turn_end(*this);
  } else {
    pending.since = loop_.now();
    arm_ticks();
  }
  queue_.push(pending);
}

void Pipe::Impl::on_turn_end() {
  flush_asked_ = false;
  if (state_ != State::kReady || waiting_.empty()) return;
  const Instant now = loop_.now();
  const std::size_t handed = queue_.size() - sent_;
  stats_.handed += handed;
  stats_.queued += (now - waiting_since_) * static_cast<std::int64_t>(handed);
  for (; sent_ < queue_.size(); ++sent_) queue_[sent_].since = now;
  handed_ += waiting_.size();
  stream_->send(waiting_);
  backlog_ = stream_->unsent();
  waiting_.clear();
  if (waiting_.capacity() > kKeptBytes) waiting_.shrink_to_fit();
  arm_ticks();
}

// ---- replies ----------------------------------------------------------------------------------

void Pipe::Impl::on_bytes(std::string_view bytes) {
  const std::shared_ptr<Impl> self = shared_from_this();
  const std::uint64_t life = life_;
  heard_at_ = loop_.now();
  if (partial_.empty()) {
    const std::size_t used = consume(bytes);
    if (life != life_ || used == bytes.size()) return;
    partial_.assign(bytes.substr(used));
    moved_at_ = loop_.now();
    return;
  }
  // Out of the member while sinks run: one of them may reset the pipe.
  std::string pieces = std::exchange(partial_, {});
  pieces.append(bytes);
  const std::size_t used = consume(pieces);
  if (life != life_) return;
  pieces.erase(0, used);
  if (pieces.empty()) return;
  partial_.swap(pieces);
  moved_at_ = loop_.now();
}

// Takes every whole reply; returns the bytes taken. After it, `life_` says whether the connection
// is still the same.
std::size_t Pipe::Impl::consume(std::string_view bytes) {
  const std::uint64_t life = life_;
  std::size_t used = 0;
  while (used < bytes.size()) {
    const Result<std::size_t> size = scanner_.scan(bytes.substr(used));
    if (!size) {
      lose(Error{size.error().code, place() + ": " + size.error().message});
      break;
    }
    if (*size == 0) break;
    take_reply(bytes.substr(used, *size));
    if (life != life_) break;
    used += *size;
  }
  return used;
}

void Pipe::Impl::take_reply(std::string_view raw) {
  if (state_ == State::kReady && sent_ > 0) return answer_front(raw);
  if (state_ == State::kGreeting) return take_greeting_reply(raw);
  if (state_ == State::kProving && !kills_.empty()) return take_kill_reply(raw);
  lose(Error{Code::kUnavailable, place() + ": sent a reply that nobody asked for"});
}

void Pipe::Impl::answer_front(std::string_view raw) {
  Pending& front = queue_.front();
  if (--front.replies > 0) return;
  ReplySink& sink = *front.sink;
  stats_.served += heard_at_ - front.since;
  queue_.pop();
  --sent_;
  ++stats_.replies;
  if (expired_ == 0) return sink.on_reply(raw);
  --expired_;
  sink.on_finished();
}

// ---- failures ---------------------------------------------------------------------------------

// In the next turn, because nobody may be called from within `send`.
void Pipe::Impl::fail_soon(ReplySink& sink, Error why) {
  ++stats_.failed;
  failures_.push_back({.sink = &sink, .why = std::move(why)});
  if (failures_.size() > 1) return;
  loop_.post([weak = weak_from_this()] {
    if (const std::shared_ptr<Impl> self = weak.lock()) self->run_failures();
  });
}

void Pipe::Impl::run_failures() {
  if (state_ == State::kShut) return;
  std::vector<Failure> failures;
  failures.swap(failures_);
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (state_ == State::kShut) {
      failures[i].sink->on_dropped();
    } else {
      failures[i].sink->on_failed(failures[i].why, Outcome::kNotSent);
    }
  }
}

// Everything in the back part of the queue, without having been sent.
void Pipe::Impl::fail_waiting(const Error& why) {
  CHECK(sent_ == 0);
  for (; !queue_.empty(); queue_.pop()) fail_soon(*queue_.front().sink, why);
  waiting_.clear();
}

void Pipe::Impl::arm_ticks() {
  if (tick_ != net::TimerId{}) return;
  const milliseconds period =
      std::clamp(options_.limits.request_timeout / 4, milliseconds{1}, kTickMax);
  tick_ = loop_.after(period, [weak = weak_from_this()] {
    if (const std::shared_ptr<Impl> self = weak.lock()) self->on_tick();
  });
}

void Pipe::Impl::on_tick() {
  tick_ = net::TimerId{};
  if (state_ == State::kShut || queue_.empty()) return;
  arm_ticks();
  const Instant now = loop_.now();
  if (state_ != State::kReady) return expire_waiting(now);
  note_sending(now);
  expire_sent(now);
  if (state_ == State::kReady && sent_ > 0) doubt_silence(now);
  if (state_ == State::kReady && sent_ > 0 &&
      overdue(queue_.front(), options_.limits.pipe_stuck_max, now)) {
    lose(Error{Code::kTimeout,
               place() + ": no reply within " + text_of(options_.limits.pipe_stuck_max)});
  }
}

void Pipe::Impl::note_sending(Instant now) {
  const std::uint64_t left = stream_->sent_total();
  if (left != left_seen_ && stream_->unsent() > 0) moved_at_ = now;
  left_seen_ = left;
}

// While a large value is on its way, in either direction, the server is not silent.
bool Pipe::Impl::overdue(const Pending& pending, milliseconds most, Instant now) const {
  return std::max(pending.since, moved_at_) + most <= now;
}

// The place of a command that timed out stays: its reply may still come and is nobody else's.
void Pipe::Impl::expire_sent(Instant now) {
  const std::uint64_t life = life_;
  while (life == life_ && expired_ < sent_) {
    const Pending& pending = queue_[expired_];
    if (!overdue(pending, options_.limits.request_timeout, now)) return;
    ++expired_;
    ++stats_.timeouts;
    ++stats_.failed;
    pending.sink->on_failed(
        Error{Code::kTimeout, "no reply within " + text_of(options_.limits.request_timeout)},
        Outcome::kUnknown);
  }
}

void Pipe::Impl::expire_waiting(Instant now) {
  std::size_t bytes = 0;
  while (!queue_.empty() && queue_.front().since + options_.limits.request_timeout <= now) {
    std::string why = "no connection within " + text_of(options_.limits.request_timeout);
    if (!last_error_.empty()) why += ": " + last_error_;
    fail_soon(*queue_.front().sink, Error{Code::kTimeout, std::move(why)});
    bytes += queue_.front().bytes;
    ++stats_.timeouts;
    queue_.pop();
  }
  waiting_.erase(0, bytes);
}

// A server that is slow is slow on every connection; one that answers a new connection, and has
// not answered what was sent long before it on this one, has never seen that.
void Pipe::Impl::doubt_silence(Instant now) {
  const nanoseconds silence = std::max(options_.limits.request_timeout / 2, kSilenceMin);
  if (rival_ != nullptr && (!rival_->is_over() || rival_since_ + kRivalPause > now)) return;
  rival_.reset();
  if (std::max({queue_.front().since, heard_at_, moved_at_}) + silence <= now) ask_rival();
}

void Pipe::Impl::ask_rival() {
  rival_since_ = loop_.now();
  // A reply that is on its way on this connection is here by the end of the grace.
  auto answered = guarded([](Impl& self) {
    self.loop_.after(kRivalGrace, self.guarded([](Impl& later) { later.give_up_silent(); }));
  });
  rival_ = std::make_shared<Rival>(loop_,
                                   Rival::Options{.address = options_.address,
                                                  .credentials = options_.credentials,
                                                  .session = gate_.session(),
                                                  .limits = options_.limits},
                                   std::move(answered));
  rival_->begin();
}

void Pipe::Impl::give_up_silent() {
  if (state_ != State::kReady || sent_ == 0) return;
  if (heard_at_ >= rival_since_ || moved_at_ >= rival_since_) return;
  const auto silent = std::chrono::duration_cast<milliseconds>(
      loop_.now() - std::max(queue_.front().since, heard_at_));
  lose(Error{Code::kUnavailable, place() + ": the connection was silent for " + text_of(silent) +
                                     ", while a new one was answered"});
}

// The connection died after the kernel had taken `bytes_left` of what was handed to it. Commands
// none of whose bytes left are failed as not sent; the others become Lost.
void Pipe::Impl::bury_in_flight(const Error& why, std::uint64_t bytes_left) {
  std::size_t left = sent_;  // how many commands left, at least in part
  for (std::uint64_t end = handed_; left > 0; --left) {
    end -= queue_[left - 1].bytes;
    if (end < bytes_left) break;
  }
  left = std::max(left, expired_);  // their sinks were told "unknown" and wait for the kill
  std::vector<ReplySink*> untold;
  Lost lost{.run_id = identity_.incarnation.run_id,
            .connection_id = identity_.connection_id,
            .sinks = {}};
  for (std::size_t i = 0; i < left; ++i) {
    lost.sinks.push_back(queue_[i].sink);
    if (i >= expired_) untold.push_back(queue_[i].sink);
  }
  for (std::size_t i = left; i < sent_; ++i) fail_soon(*queue_[i].sink, why);
  for (std::size_t i = 0; i < sent_; ++i) queue_.pop();
  sent_ = 0;
  expired_ = 0;
  const Instant now = loop_.now();
  for (std::size_t i = 0; i < queue_.size(); ++i) queue_[i].since = now;  // they wait from here
  if (!queue_.empty()) arm_ticks();
  lost_open_ += lost.sinks.size();
  if (!lost.sinks.empty()) lost_.push_back(std::move(lost));
  tell_lost(untold, why);
}

void Pipe::Impl::tell_lost(const std::vector<ReplySink*>& sinks, const Error& why) {
  stats_.failed += sinks.size();
  for (ReplySink* sink : sinks) {
    if (state_ == State::kShut) return;  // on_dropped was said to all of lost_
    sink->on_failed(why, Outcome::kUnknown);
  }
  if (options_.mutations.lost_is_finished && !lost_.empty()) {
    lost_open_ -= lost_.back().sinks.size();
    for (ReplySink* sink : std::exchange(lost_.back().sinks, {})) sink->on_finished();
    lost_.pop_back();
  }
}

void Pipe::Impl::shut() {
  set_state(State::kShut);
  ++life_;
  loop_.forget_turn_end(*this);
  forget_timer(tick_);
  forget_timer(connect_timer_);
  forget_timer(greeting_timer_);
  forget_timer(idle_timer_);
  rival_.reset();
  stream_.reset();
  for (const Failure& failure : std::exchange(failures_, {})) failure.sink->on_dropped();
  for (const Lost& lost : std::exchange(lost_, {})) {
    for (ReplySink* sink : lost.sinks) sink->on_dropped();
  }
  lost_open_ = 0;
  sent_ = 0;
  expired_ = 0;
  for (; !queue_.empty(); queue_.pop()) queue_.front().sink->on_dropped();
}

}  // namespace cleave::backend
