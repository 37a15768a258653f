#include "backend/health.h"

#include <utility>

#include "backend/call.h"
#include "backend/commands.h"
#include "backend/unchecked_gate.h"

namespace cleave::backend {
namespace {

// Every so many probes the server is asked whether it is still whom we know: a failover leaves the
// connection open and changes the replication id.
constexpr std::uint32_t kIdentityEvery = 8;

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
    call(pipe_, ping_,
         [weak = weak_from_this(), asked = loop_.now()](const Result<wire::Reply>& reply) {
           const auto self = weak.lock();
           if (self == nullptr) return;
           if (reply) {
             self->health_.latency =
                 std::chrono::duration_cast<microseconds>(self->loop_.now() - asked);
           }
           self->take(reply);
         });
    if (++probes_ % kIdentityEvery == 0) ask_identity();
    timer_ = loop_.after(options_.limits.probe_interval, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->probe();
    });
  }

 private:
  void ask_identity() {
    call(pipe_, wire::command({"INFO", "replication"}),
         [weak = weak_from_this()](const Result<wire::Reply>& reply) {
           const auto self = weak.lock();
           if (self == nullptr || !reply || reply->is_error()) return;
           self->replication_id_ = info_field(reply->text, "master_replid");
           self->primary_ = info_field(reply->text, "role") == "master";
           self->connection_ = self->pipe_.stats().reconnects;
         });
  }

  // As of the connection, corrected by what was asked on it since.
  Identity current_identity() const {
    const Identity* const known = pipe_.identity();
    Identity identity = known == nullptr ? health_.identity : *known;
    if (known != nullptr && connection_ == pipe_.stats().reconnects && !replication_id_.empty()) {
      identity.incarnation.replication_id = replication_id_;
      identity.primary = primary_;
    }
    return identity;
  }

  void take(const Result<wire::Reply>& reply) {
    if (!reply) return fail_probe(reply.error().message);
    if (reply->is_error()) return fail_probe(reply->text);
    failures_ = 0;
    Identity identity = current_identity();
    const bool same = identity.incarnation == health_.identity.incarnation &&
                      identity.primary == health_.identity.primary;
    if (health_.up && same) return;
    health_.identity = std::move(identity);
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
  UncheckedGate gate_;
  Options options_;
  std::string ping_;
  Pipe pipe_;
  Health health_;
  std::uint32_t failures_ = 0;
  std::uint32_t probes_ = 0;
  std::string replication_id_;  // asked on connection `connection_` of the pipe
  bool primary_ = false;
  std::uint64_t connection_ = 0;
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
