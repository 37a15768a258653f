#include "proxy/clients/client.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "proxy/clients/clients.h"

namespace cleave::proxy {
namespace {

// How many requests of a new client may be under way, one more with each reply: a client that opens
// with thousands of requests for large values is found out before they are all sent, because what
// was sent to a server comes back through a pipe that others share.
constexpr std::size_t kWindowFirst = 4;
constexpr std::size_t kWindowMax = 1'024;
// A reply's weight in the moving average is one in so many.
constexpr std::size_t kAverageOver = 8;
// Buffers above this are given back once empty.
constexpr std::size_t kKeptBytes = 65'536;
// So much unread input behind a protocol error means that the client is in the middle of sending.
constexpr std::size_t kLingerBytes = 16'384;
constexpr std::uint32_t kLingerTicks = 8;

void give_back(std::string& buffer) {
  if (buffer.capacity() > kKeptBytes) std::string().swap(buffer);
}

}  // namespace

Client::Client(Clients& clients, std::unique_ptr<net::Stream> stream, ClientFacts its_facts)
    : facts(std::move(its_facts)),
      clients_(clients),
      limits_(clients.options().limits),
      stream_(std::move(stream)),
      parser_(limits_),
      window_(std::min(kWindowFirst, limits_.client_pending_max)) {}

// ---- requests in ------------------------------------------------------------------------------

void Client::on_bytes(std::string_view bytes) {
  heard_ = true;
  if (finishing_ || closed_) return;
  if (!input_.empty() || stopped_) {
    input_.append(bytes);
    return take_input();
  }
  const std::size_t used = take(bytes);
  if (!closed_ && !finishing_) input_.assign(bytes.substr(used));
}

void Client::take_input() {
  const std::size_t used = take(input_);
  if (closed_ || finishing_) return;
  input_.erase(0, used);
  if (input_.empty()) give_back(input_);
}

// Handles every whole request; returns the bytes taken. Stops early, and reading with it, when
// enough is under way.
std::size_t Client::take(std::string_view bytes) {
  std::size_t used = 0;
  wire::Request request;
  while (used < bytes.size() && !closed_ && !finishing_) {
    if (!may_take()) {
      if (!std::exchange(stopped_, true)) stream_->pause_reading();
      break;
    }
    parser_.trust(facts.authenticated);
    const Result<std::size_t> size = parser_.parse(bytes.substr(used), request);
    if (!size) {
      if (bytes.size() - used >= kLingerBytes && !ended_) linger_ticks_ = kLingerTicks;
      clients_.handle_broken(*this, size.error());
      break;
    }
    if (*size == 0) break;
    const bool large = *size > clients_.options().shared_bytes_max;
    if (large && pending_ > 0) {  // it is parsed again when its turn has come
      alone_ = true;
      continue;
    }
    used += *size;
    if (!request.args.empty()) clients_.options().handler.handle(*this, request);
    alone_ = large && pending_ > 0;
  }
  return used;
}

// A large request travels on a connection of its own, where it could pass, and be passed by, what
// the same client has on the shared one. So nothing else of the client is under way meanwhile.
bool Client::may_take() const {
  if (alone_) return false;
  if (pending_ >= window_ || unsent() > limits_.client_unsent_bytes_max) return false;
  return pending_ == 0 || pending_ * reply_bytes_expected_ <= limits_.client_unsent_bytes_max;
}

// ---- replies out ------------------------------------------------------------------------------

void Client::push(Request& request) {
  request.client = this;
  request.next = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->next) = &request;
  newest_ = &request;
  ++pending_;
}

void Client::answer(Request& request, std::string_view reply) {
  reply_buffer(request).append(reply);
  answered(request, reply.size());
}

void Client::answered(Request& request, std::size_t reply_bytes) {
  note_reply(reply_bytes);
  request.done = true;
  if (is_oldest(request)) {
    pop_done();
  } else {
    kept_bytes_ += reply_bytes;
  }
  clients_.touch(*this);
}

void Client::answer_directly(std::string_view reply) {
  out_.append(reply);
  note_reply(reply.size());
  clients_.touch(*this);
}

void Client::note_reply(std::size_t bytes) {
  largest_reply_ = std::max(largest_reply_, bytes);
  window_ = std::min({window_ + 1, kWindowMax, limits_.client_pending_max});
  // Large replies are believed at once, small ones little by little.
  if (bytes > reply_bytes_expected_) {
    reply_bytes_expected_ = bytes;
  } else {
    reply_bytes_expected_ -= (reply_bytes_expected_ - bytes) / kAverageOver;
  }
}

void Client::pop_done() {
  while (oldest_ != nullptr && oldest_->done) {
    Request& request = *oldest_;
    out_.append(request.reply);
    kept_bytes_ -= request.reply.size();
    oldest_ = request.next;
    if (oldest_ == nullptr) newest_ = nullptr;
    --pending_;
    clients_.release(request);
  }
  if (pending_ == 0) alone_ = false;
}

void Client::flush(Instant now) {
  if (closed_) return;
  if (!out_.empty()) {
    stream_->send(out_);
    backlog_ = stream_->unsent();
    out_.clear();
    give_back(out_);
  }
  if (unsent() == 0) largest_reply_ = 0;
  // One reply may be larger than the bound: a client that reads it does nothing wrong.
  if (unsent() > limits_.client_unsent_bytes_hard + largest_reply_) {
    return clients_.shed(*this, ShedCause::kUnread,
                         "did not read " + std::to_string(unsent()) + " bytes of replies");
  }
  if (ended_ && !stopped_) finishing_ = true;
  if (finishing_ && idle()) {
    if (backlog_ == 0 && linger_ticks_ == 0) clients_.part_with(*this);
    return;
  }
  const bool slow = unsent() > limits_.client_unsent_bytes_max;
  if (!slow) stalled_since_ = Instant{0};
  if (slow && stalled_since_ == Instant{0}) stalled_since_ = now;
  if (stopped_ && may_take()) go_on();
}

void Client::go_on() {
  take_input();
  // It may have had to stop again.
  if (closed_ || finishing_ || !may_take()) return;
  stopped_ = false;
  if (ended_) return clients_.touch(*this);  // nothing more comes: to the end
  stream_->resume_reading();
}

// What it has asked is answered first, as Redis does (`printf ... | nc -N`).
bool Client::on_end() {
  ended_ = true;
  linger_ticks_ = 0;
  clients_.touch(*this);
  return true;
}

void Client::tick_lingering() {
  if (linger_ticks_ == 0) return;
  linger_ticks_ = std::exchange(heard_, false) ? linger_ticks_ - 1 : 0;
  if (linger_ticks_ == 0) clients_.touch(*this);
}

void Client::on_drained() {
  backlog_ = 0;
  clients_.touch(*this);
}

void Client::on_closed(const Error& /*why*/) { clients_.part_with(*this); }

void Client::close() {
  if (std::exchange(closed_, true)) return;
  stream_->close();
  while (oldest_ != nullptr) {
    Request& request = *oldest_;
    oldest_ = request.next;
    request.client = nullptr;
    request.next = nullptr;
    if (request.done) clients_.release(request);
  }
  newest_ = nullptr;
  pending_ = 0;
  kept_bytes_ = 0;
}

}  // namespace cleave::proxy
