#include "backend/health.h"

#include <utility>

#include "backend/call.h"

namespace cleave::backend {
namespace {

// A probe touches no key: it asks nobody.
class OpenGate final : public Gate {
 public:
  OpenGate(net::Loop& loop, SessionId session) : loop_(loop), session_(std::move(session)) {}
  const SessionId& session() const override { return session_; }
  void confirm(std::function<void(Result<void>)> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }

 private:
  net::Loop& loop_;
  SessionId session_;
};

// A probe must fail long before a request would, or three failures take seconds.
Limits probe_limits(Limits limits) {
  limits.request_timeout = limits.probe_interval * 2;
  return limits;
}

}  // namespace

class Prober::Impl : public std::enable_shared_from_this<Prober::Impl> {
 public:
  Impl(net::Loop& loop, Rng rng, Options options)
      : loop_(loop),
        gate_(loop, options.session),
        options_(std::move(options)),
        ping_(wire::command({"PING"})),
        pipe_(loop, gate_, rng,
              {.address = options_.address,
               .credentials = options_.credentials,
               .limits = probe_limits(options_.limits),
               .on_state = nullptr}) {}

  ~Impl() { loop_.cancel(timer_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Health& health() const { return health_; }
  Pipe& pipe() { return pipe_; }

  void probe() {
    call(pipe_, ping_, [weak = weak_from_this()](const Result<wire::Reply>& reply) {
      if (const auto self = weak.lock()) self->take(reply);
    });
    timer_ = loop_.after(options_.limits.probe_interval, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->probe();
    });
  }

 private:
  void take(const Result<wire::Reply>& reply) {
    if (!reply) return fail_probe(reply.error().message);
    if (reply->is_error()) return fail_probe(reply->text);
    failures_ = 0;
    const Identity* identity = pipe_.identity();
    const bool same = identity != nullptr &&
                      identity->incarnation == health_.identity.incarnation && health_.up;
    if (same) return;
    if (identity != nullptr) health_.identity = *identity;
    health_.up = true;
    health_.error.clear();
    tell();
  }

  void fail_probe(const std::string& why) {
    if (++failures_ < options_.limits.probe_failures_max) return;
    health_.up = false;
    health_.error = why;
    if (failures_ == options_.limits.probe_failures_max) tell();
  }

  void tell() {
    if (options_.on_change) options_.on_change(health_);
  }

  net::Loop& loop_;
  OpenGate gate_;
  Options options_;
  std::string ping_;
  Pipe pipe_;
  Health health_;
  std::uint32_t failures_ = 0;
  net::TimerId timer_;
};

Prober::Prober(net::Loop& loop, Rng rng, Options options)
    : impl_(std::make_shared<Impl>(loop, rng, std::move(options))) {
  impl_->probe();
}
Prober::~Prober() = default;

const Health& Prober::health() const { return impl_->health(); }
Pipe& Prober::pipe() { return impl_->pipe(); }

}  // namespace cleave::backend
