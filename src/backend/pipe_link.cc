// The life of a pipe's connection: connect, greet, prove (rules 5 and 6), lose, again.
#include <algorithm>
#include <utility>

#include "backend/greeting.h"
#include "backend/pipe_impl.h"
#include "base/check.h"

namespace cleave::backend {

namespace {

// How long a connection may be idle: shorter than any firewall's patience that we know of.
constexpr milliseconds kIdleMax{15'000};
// Of what a server says unasked, so much is shown.
constexpr std::size_t kWordsMax = 200;

}  // namespace

void Pipe::Impl::open() { connect(); }

void Pipe::Impl::connect_after(nanoseconds delay) {
  forget_timer(connect_timer_);
  connect_timer_ = loop_.after(delay, guarded([](Impl& self) {
                                 self.connect_timer_ = net::TimerId{};
                                 self.connect();
                               }));
}

void Pipe::Impl::connect() {
  ++life_;
  set_state(State::kConnecting);
  loop_.connect(options_.address, options_.limits.connect_timeout,
                guarded([](Impl& self, Result<std::unique_ptr<net::Stream>> stream) {
                  if (stream) return self.greet(std::move(*stream));
                  self.lose(stream.error());
                }));
}

void Pipe::Impl::greet(std::unique_ptr<net::Stream> stream) {
  stream_ = std::move(stream);
  set_state(State::kGreeting);
  const Greeting said = greeting(options_.credentials, gate_.session());
  greeting_.clear();
  greeting_wanted_ = said.replies;
  handed_ = said.bytes.size();
  backlog_ = 0;
  stream_->start(*this);
  stream_->send(said.bytes);
  greeting_timer_ = loop_.after(
      options_.limits.connect_timeout, guarded([](Impl& self) {
        self.greeting_timer_ = net::TimerId{};
        self.lose(Error{Code::kTimeout, self.place() + ": connected, but does not answer"});
      }));
}

void Pipe::Impl::take_greeting_reply(std::string_view raw) {
  Result<wire::Reply> reply = wire::parse_reply(raw);
  if (!reply) return lose(fail(place(), reply.error()).error());
  greeting_.push_back(std::move(*reply));
  if (greeting_.size() < greeting_wanted_) return;
  forget_timer(greeting_timer_);
  const Result<Identity> identity = identity_of(greeting_);
  if (!identity) return lose(fail(place(), identity.error()).error());
  identity_ = *identity;
  identified_ = true;
  prove();
}

// Both at once: the old connections are killed at the server (rule 6), and the session is looked
// for in the document (rule 5). The kills come first on this connection, so that nothing sent
// through it later can be overtaken by a command of an old one.
void Pipe::Impl::prove() {
  set_state(State::kProving);
  confirmed_ = false;
  kill_lost();
  if (state_ == State::kProving) ask_gate();
}

void Pipe::Impl::kill_lost() {
  kills_.clear();
  std::string bytes;
  std::vector<ReplySink*> finished;
  for (Lost& lost : lost_) {
    if (lost.run_id == identity_.incarnation.run_id && !options_.mutations.no_own_kill) {
      kills_.push_back(lost.connection_id);
      bytes += kill_command(lost.connection_id);
    } else {
      // Connection ids belong to a process, and that process is gone.
      finished.insert(finished.end(), lost.sinks.begin(), lost.sinks.end());
      lost.sinks.clear();
    }
  }
  std::erase_if(lost_, [](const Lost& lost) { return lost.sinks.empty(); });
  lost_open_ -= finished.size();
  handed_ += bytes.size();
  if (!bytes.empty()) stream_->send(bytes);
  for (ReplySink* sink : finished) sink->on_finished();
}

void Pipe::Impl::take_kill_reply(std::string_view raw) {
  const std::uint64_t life = life_;
  const std::uint64_t id = kills_.front();
  kills_.erase(kills_.begin());
  // An error (no permission) is no kill: those commands stay unfinished.
  if (raw.starts_with(':')) {
    const auto lost = std::ranges::find_if(lost_, [&](const Lost& one) {
      return one.connection_id == id && one.run_id == identity_.incarnation.run_id;
    });
    if (lost != lost_.end()) {
      const std::vector<ReplySink*> finished = std::move(lost->sinks);
      lost_.erase(lost);
      lost_open_ -= finished.size();
      for (ReplySink* sink : finished) sink->on_finished();
    }
  }
  if (life == life_) ready_if_proved();
}

void Pipe::Impl::ask_gate() {
  gate_.confirm(
      guarded([](Impl& self, const Result<void>& verdict) { self.take_verdict(verdict); }));
}

void Pipe::Impl::take_verdict(const Result<void>& verdict) {
  if (state_ != State::kProving || confirmed_) return;
  if (verdict) {
    confirmed_ = true;
    return ready_if_proved();
  }
  if (verdict.error().code == Code::kConflict) return refuse(verdict.error());
  // The connection is as good as before; it is the coordinator that must be asked again.
  failing_ = true;
  last_error_ = "its connection waits for the coordinator: " + verdict.error().message;
  fail_waiting(Error{Code::kUnavailable, last_error_});
  forget_timer(connect_timer_);
  connect_timer_ = loop_.after(options_.limits.reconnect_max, guarded([](Impl& self) {
                                 self.connect_timer_ = net::TimerId{};
                                 if (self.state_ == State::kProving && !self.confirmed_)
                                   self.ask_gate();
                               }));
}

void Pipe::Impl::ready_if_proved() {
  if (state_ != State::kProving || !confirmed_ || !kills_.empty()) return;
  failing_ = false;
  ready_since_ = loop_.now();
  ++stats_.reconnects;
  if (!waiting_.empty() && !std::exchange(flush_asked_, true)) loop_.at_turn_end(*this);
  heard_at_ = ready_since_;
  set_state(State::kReady);
  keep_alive();
}

void Pipe::Impl::keep_alive() {
  forget_timer(idle_timer_);
  idle_timer_ = loop_.after(kIdleMax, guarded([](Impl& self) {
                              self.idle_timer_ = net::TimerId{};
                              if (self.state_ != State::kReady) return;
                              const bool idle = self.heard_at_ + kIdleMax <= self.loop_.now();
                              if (idle && self.queue_.empty()) {
                                self.send(wire::command({"PING"}), self.nobody_, 1);
                              }
                              self.keep_alive();
                            }));
}

// Before it was asked anything a server says why it will not serve: that it has too many clients,
// or is in protected mode.
std::string Pipe::Impl::unasked_words() const {
  if (state_ != State::kGreeting || greeting_.size() == greeting_wanted_) return {};
  if (!greeting_.empty()) return greeting_.front().is_error() ? greeting_.front().text : "";
  if (!partial_.starts_with('-')) return {};
  return partial_.substr(1, std::min(kWordsMax, partial_.find('\r') - 1));
}

void Pipe::Impl::lose(const Error& reason) {
  Error why = reason;
  if (const std::string words = unasked_words(); !words.empty()) {
    why.message = place() + ": the server says: " + words;
  }
  const bool was_ready = state_ == State::kReady;
  const std::uint64_t bytes_left = stream_ == nullptr ? 0 : stream_->sent_total();
  stream_.reset();
  forget_timer(greeting_timer_);
  forget_timer(connect_timer_);
  forget_timer(idle_timer_);
  rival_.reset();
  ++life_;
  const std::uint64_t life = life_;
  partial_.clear();
  scanner_ = wire::ReplyScanner(options_.limits);
  kills_.clear();
  last_error_ = why.message;
  // One that worked is tried again at once; one that keeps dying, after the shortest pause.
  if (was_ready) attempts_ = loop_.now() - ready_since_ < options_.limits.reconnect_max ? 1 : 0;
  if (was_ready) {
    // What waits goes on waiting: an idle connection that the server closed is no failure yet.
    state_ = State::kDown;
    bury_in_flight(why, bytes_left);
  } else {
    failing_ = true;
    state_ = State::kDown;
    fail_waiting(why);
  }
  if (state_ == State::kShut) return;
  if (life == life_) {  // no sink has reset the pipe meanwhile
    identified_ = false;
    back_off();
  }
  if (was_ready && options_.on_state) options_.on_state(false);
}

// Jitter over the upper half, so that the pipes of many routers do not return in step.
void Pipe::Impl::back_off() {
  nanoseconds delay{0};
  if (attempts_ > 0) {
    const std::uint32_t doublings = std::min(attempts_ - 1, 20U);
    const nanoseconds full = std::min<nanoseconds>(
        nanoseconds{options_.limits.reconnect_first} * (std::int64_t{1} << doublings),
        options_.limits.reconnect_max);
    const auto half = static_cast<std::uint64_t>(full.count() / 2);
    delay = nanoseconds{half + rng_.below(half + 1)};
  }
  ++attempts_;
  connect_after(delay);
}

void Pipe::Impl::on_closed(const Error& why) {
  const std::shared_ptr<Impl> self = shared_from_this();
  lose(why);
}

void Pipe::Impl::reset(const Error& why) {
  if (state_ == State::kRefused || state_ == State::kShut) return;
  const std::shared_ptr<Impl> self = shared_from_this();
  lose(why);
  if (state_ != State::kDown) return;
  fail_waiting(why);
  connect_after(nanoseconds{0});
}

void Pipe::Impl::refuse(const Error& why) {
  stream_.reset();
  forget_timer(connect_timer_);
  ++life_;
  identified_ = false;
  failing_ = true;
  last_error_ = why.message;
  fail_waiting(why);
  set_state(State::kRefused);
}

void Pipe::Impl::set_state(State state) {
  const bool before = usable();
  state_ = state;
  if (state != State::kShut && usable() != before && options_.on_state) options_.on_state(usable());
}

void Pipe::Impl::forget_timer(net::TimerId& timer) {
  if (timer != net::TimerId{}) loop_.cancel(timer);
  timer = net::TimerId{};
}

}  // namespace cleave::backend
