#include "sim/world/strangers.h"

#include <utility>

#include "wire/resp.h"

namespace cleave::sim {
namespace {

constexpr nanoseconds kEvery = milliseconds{25};
constexpr std::uint64_t kNames = 4;

}  // namespace

Strangers::Strangers(Scheduler& scheduler, Network& network,
                     const std::vector<std::unique_ptr<ModelServer>>& servers)
    : scheduler_(scheduler),
      servers_(servers),
      loop_(network, network.add_process("10.4.0.1")),
      last_(servers.size()) {}

void Strangers::write(std::size_t server, nanoseconds length) {
  if (since_ != Instant{0}) return;
  target_ = server;
  since_ = scheduler_.now();
  until_ = since_ + length;
  connect();
}

void Strangers::connect() {
  const std::uint64_t visit = ++visit_;
  loop_.connect(servers_[target_]->options().address, milliseconds{200},
                [this, visit](Result<std::unique_ptr<net::Stream>> stream) {
                  if (visit != visit_) return;
                  if (stream) {
                    stream_ = std::move(*stream);
                    stream_->start(*this);
                  }
                  go_on(visit);
                });
}

void Strangers::go_on(std::uint64_t visit) {
  if (visit != visit_) return;
  if (scheduler_.now() >= until_) return end();
  if (stream_ == nullptr) {
    loop_.after(kEvery, [this, visit] {
      if (visit == visit_) connect();
    });
    return;
  }
  const std::string name = std::string(kPrefix) + std::to_string(written_++ % kNames);
  stream_->send(wire::command({"SET", name, std::to_string(written_)}));
  last_[target_] = scheduler_.now();
  loop_.after(kEvery, [this, visit] { go_on(visit); });
}

void Strangers::on_bytes(std::string_view /*bytes*/) {}
void Strangers::on_closed(const Error& /*why*/) { stream_.reset(); }

// They tidy up, or what they left would stand in the way of moves for ever.
void Strangers::end() {
  if (since_ == Instant{0}) return;
  ++visit_;
  since_ = Instant{0};
  stream_.reset();
  for (const auto& server : servers_) {
    if (!server->running()) continue;
    for (std::uint64_t n = 0; n < kNames; ++n)
      server->current().erase(std::string(kPrefix) + std::to_string(n));
  }
}

}  // namespace cleave::sim
