#include "backend/rival.h"

#include <utility>

namespace cleave::backend {

Rival::Rival(net::Loop& loop, Options options, std::function<void()> answered)
    : loop_(loop),
      options_(std::move(options)),
      answered_(std::move(answered)),
      scanner_(options_.limits) {}

Rival::~Rival() { loop_.cancel(timer_); }

void Rival::begin() {
  timer_ = loop_.after(options_.limits.connect_timeout, [this] { end(); });
  loop_.connect(options_.address, options_.limits.connect_timeout,
                [weak = weak_from_this()](Result<std::unique_ptr<net::Stream>> stream) {
                  const auto self = weak.lock();
                  if (self == nullptr || self->over_) return;
                  if (!stream) return self->end();
                  self->greet(std::move(*stream));
                });
}

void Rival::greet(std::unique_ptr<net::Stream> stream) {
  stream_ = std::move(stream);
  const Greeting said = greeting(options_.credentials, options_.session);
  wanted_ = said.replies;
  stream_->start(*this);
  stream_->send(said.bytes);
}

void Rival::on_bytes(std::string_view bytes) {
  pending_.append(bytes);
  while (!over_ && replies_.size() < wanted_) {
    const Result<std::size_t> size = scanner_.scan(pending_);
    if (!size) return end();
    if (*size == 0) return;
    Result<wire::Reply> reply = wire::parse_reply(std::string_view(pending_).substr(0, *size));
    if (!reply) return end();
    pending_.erase(0, *size);
    replies_.push_back(std::move(*reply));
  }
  if (over_) return;
  const bool known = identity_of(replies_).has_value();
  const std::function<void()> answered = std::move(answered_);
  end();
  if (known) answered();
}

void Rival::on_closed(const Error& /*why*/) { end(); }

void Rival::end() {
  over_ = true;
  loop_.cancel(timer_);
  if (stream_ != nullptr) stream_->close();
}

}  // namespace cleave::backend
