#include "control/observe/latency_watch.h"

#include <utility>

#include "backend/call.h"
#include "base/check.h"
#include "base/guarded.h"
#include "wire/writer.h"

namespace cleave::control {
namespace {

constexpr milliseconds kAskMoving{10};
constexpr std::uint64_t kTicksToAskOthers = 10;

}  // namespace

LatencyWatch::LatencyWatch(Options options) : options_(std::move(options)), rng_(options_.seed) {
  options_.loop.after(kAskMoving, guarded(alive_, [this] { tick(); }));
}

LatencyWatch::~LatencyWatch() = default;

void LatencyWatch::follow(NodeId node, const net::Address& address) {
  CHECK(node != NodeId{});
  Server& server = servers_[node];
  server = {};
  server.connection = std::make_unique<backend::Prober>(
      options_.loop, Rng{rng_.next()},
      backend::Prober::Options{.address = address,
                               .credentials = options_.credentials,
                               .session = options_.session,
                               .limits = options_.limits,
                               .on_change = nullptr});
}

void LatencyWatch::tick() {
  options_.loop.after(kAskMoving, guarded(alive_, [this] { tick(); }));
  const bool others = ++ticks_ % kTicksToAskOthers == 0;
  for (auto& [node, server] : servers_) {
    if ((server.moving || others) && server.asked == Instant{0}) ask(node, server);
  }
}

// Not while one is awaited: a server that hangs gets no queue of questions.
void LatencyWatch::ask(NodeId node, Server& server) {
  CHECK(server.connection != nullptr && server.asked == Instant{0});
  backend::Pipe& pipe = server.connection->pipe();
  if (!pipe.usable()) return;
  const Instant now = options_.loop.now();
  server.asked = now;
  backend::call(pipe, wire::command({"PING"}),
                guarded(alive_, [this, node, now](const Result<wire::Reply>& reply) {
                  answered(node, now, reply || reply.error().code == Code::kTimeout);
                }));
}

void LatencyWatch::answered(NodeId node, Instant asked, bool counts) {
  const auto found = servers_.find(node);
  if (found == servers_.end() || found->second.asked != asked) return;
  found->second.asked = Instant{0};
  if (counts) found->second.meter.add(options_.loop.now() - asked);
}

std::vector<ServerPace> LatencyWatch::end_second(const std::set<NodeId>& moving) {
  std::vector<ServerPace> seen;
  for (auto& [node, server] : servers_) {
    // What is awaited took that long at least: a server that hangs is not a quick one.
    if (server.asked != Instant{0}) server.meter.add(options_.loop.now() - server.asked);
    // A second that a move began or ended in is half its own.
    const bool quiet = !std::exchange(server.moving, moving.contains(node)) && !server.moving;
    const auto pace =
        server.meter.end_second(quiet ? LatencyMeter::During::kQuiet : LatencyMeter::During::kMove);
    if (pace && server.moving) seen.push_back(*pace);
  }
  return seen;
}

}  // namespace cleave::control
