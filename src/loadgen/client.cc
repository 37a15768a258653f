#include "loadgen/client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "wire/writer.h"

namespace cleave::loadgen {
namespace {

// After an error reply or a lost connection: else a node that fails fast would be hammered.
constexpr milliseconds kPause{5};
constexpr milliseconds kReconnectFirst{20};
constexpr milliseconds kReconnectMax{500};

}  // namespace

Seen read_reply(std::string_view raw) {
  const std::size_t end = raw.find("\r\n");
  const std::string_view line = raw.substr(1, end - 1);
  if (raw.front() == '+') return {.what = Seen::What::kOk};
  if (raw.front() == '-') return {.what = Seen::What::kUnknown, .text = line};
  std::int64_t number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  if (raw.front() == ':') return {.what = Seen::What::kInteger, .integer = number};
  if (raw.front() != '$')
    return {.what = Seen::What::kUnknown, .text = "an array was not asked for"};
  if (number < 0) return {.what = Seen::What::kAbsent};
  const std::string_view value = raw.substr(end + 2, static_cast<std::size_t>(number));
  return {.what = Seen::What::kValue, .text = value};
}

Client::Client(net::Loop& loop, Options options, Source& source)
    : loop_(loop),
      options_(std::move(options)),
      source_(source),
      next_address_(options_.index),
      self_(std::make_shared<Client*>(this)) {
  connect();
}

Client::~Client() {
  loop_.forget_turn_end(*this);
  loop_.cancel(timer_);
  loop_.cancel(pause_timer_);
}

void Client::connect() {
  const net::Address& address = options_.addresses[next_address_++ % options_.addresses.size()];
  const std::weak_ptr<Client*> weak = self_;
  loop_.connect(address, options_.connect_timeout, [weak](auto stream) {
    const auto self = weak.lock();
    if (!self) return;
    Client& client = **self;
    if (!stream) {
      client.source_.connection_lost(stream.error());
      return client.reconnect_later();
    }
    client.stream_ = std::move(*stream);
    client.scanner_ = wire::ReplyScanner{Limits{}};
    client.unread_.clear();
    client.stream_->start(client);
    client.log_in();
    client.wake();
  });
}

// Its reply is the first of the connection.
void Client::log_in() {
  greeting_open_ = !options_.password.empty();
  if (!greeting_open_) return;
  std::string bytes;
  wire::append_command(bytes, std::array<std::string_view, 2>{"AUTH", options_.password});
  stream_->send(bytes);
}

void Client::reconnect_later() {
  delay_ = std::clamp(delay_ * 2, kReconnectFirst, kReconnectMax);
  timer_ = loop_.after(delay_, [this] { connect(); });
}

void Client::move_to(std::vector<net::Address> addresses) {
  options_.addresses = std::move(addresses);
  leaving_ = true;
  wake();
}

void Client::wake() { loop_.at_turn_end(*this); }

void Client::on_turn_end() {
  if (stream_ == nullptr || paused_) return;
  if (leaving_) {
    if (!waiting_.empty()) return;
    leaving_ = false;
    stream_.reset();
    unread_.clear();
    return connect();
  }
  request_.clear();
  while (waiting_.size() < depth_) {
    Ticket ticket;
    if (!source_.next(options_.index, ticket, request_)) break;
    waiting_.push_back(ticket);
  }
  if (!request_.empty()) stream_->send(request_);
}

void Client::on_bytes(std::string_view bytes) {
  if (unread_.empty()) {
    const std::ptrdiff_t taken = take_replies(bytes);
    if (taken >= 0) unread_ = bytes.substr(static_cast<std::size_t>(taken));
  } else {
    unread_ += bytes;
    const std::ptrdiff_t taken = take_replies(unread_);
    if (taken > 0) unread_.erase(0, static_cast<std::size_t>(taken));
  }
  wake();
}

std::ptrdiff_t Client::take_replies(std::string_view pending) {
  std::size_t taken = 0;
  for (;;) {
    const auto bytes = scanner_.scan(pending.substr(taken));
    if (bytes && *bytes > 0 && greeting_open_) {
      greeting_open_ = false;
      const Seen seen = read_reply(pending.substr(taken, *bytes));
      if (seen.what == Seen::What::kUnknown) {
        give_up({Code::kUnavailable, std::string(seen.text)});
        return -1;
      }
      taken += *bytes;
      continue;
    }
    if (!bytes || (*bytes > 0 && waiting_.empty())) {
      give_up(bytes ? Error{Code::kInvalid, "a reply came that nothing asked for"} : bytes.error());
      return -1;
    }
    if (*bytes == 0) return static_cast<std::ptrdiff_t>(taken);
    const Seen seen = read_reply(pending.substr(taken, *bytes));
    const Ticket ticket = waiting_.front();
    waiting_.pop_front();
    delay_ = milliseconds{0};
    if (seen.what == Seen::What::kUnknown) pause();
    source_.finished(options_.index, ticket, seen);
    taken += *bytes;
  }
}

void Client::pause() {
  if (paused_) return;
  paused_ = true;
  pause_timer_ = loop_.after(kPause, [this] {
    paused_ = false;
    wake();
  });
}

void Client::check(Instant now) {
  if (waiting_.empty() || now - waiting_.front().sent < options_.reply_timeout) return;
  give_up({Code::kTimeout,
           "no reply within " + std::to_string(options_.reply_timeout.count()) + " ms"});
}

void Client::on_closed(const Error& why) { give_up(why); }

// What is under way has an unknown outcome, all of it: even a request that has not left us yet may
// be with the kernel already.
void Client::give_up(const Error& why) {
  stream_.reset();
  unread_.clear();
  source_.connection_lost(why);
  const std::deque<Ticket> lost = std::exchange(waiting_, {});
  const std::string text = "connection lost: " + why.message;
  for (const Ticket& ticket : lost) {
    source_.finished(options_.index, ticket, {.what = Seen::What::kUnknown, .text = text});
  }
  reconnect_later();
}

}  // namespace cleave::loadgen
