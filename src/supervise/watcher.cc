#include "supervise/watcher.h"

#include <algorithm>
#include <utility>

namespace cleave::supervise {
namespace {

constexpr milliseconds kProbeMax{1'000};

}  // namespace

// One PING and the question who answers: the port may be another program's meanwhile. While the
// server reads its data it answers the PING with an error; then the next look asks again.
class Watcher::Probe final : public net::StreamEvents, public std::enable_shared_from_this<Probe> {
 public:
  void begin(net::Loop& loop, const Child& child) {
    pid_line_ = "process_id:" + std::to_string(child.pid) + "\r\n";
    loop.connect(child.address, kProbeMax,
                 [weak = weak_from_this()](Result<std::unique_ptr<net::Stream>> stream) {
                   const auto self = weak.lock();
                   if (!self) return;
                   self->ended_ = !stream;
                   if (!stream) return;
                   self->stream_ = std::move(*stream);
                   self->stream_->start(*self);
                   self->stream_->send("PING\r\nINFO server\r\n");
                 });
  }
  bool answered() const { return answer_.starts_with("+PONG") && answer_.contains(pid_line_); }
  bool ended() const { return ended_; }

 private:
  void on_bytes(std::string_view bytes) override {
    answer_ += bytes;
    // The pid's line is whole: what matters of both answers is here.
    const std::size_t pid = answer_.find("process_id:");
    ended_ = ended_ || (pid != std::string::npos && answer_.find('\n', pid) != std::string::npos);
    if (ended_) stream_->close();
  }
  void on_closed(const Error&) override { ended_ = true; }

  std::unique_ptr<net::Stream> stream_;
  std::string pid_line_;
  std::string answer_;
  bool ended_ = false;
};

Watcher::Watcher(net::Loop& loop, const Children::Options& options, std::string program,
                 std::vector<Server>& servers, Told told)
    : loop_(loop), options_(options), program_(std::move(program)), told_(std::move(told)) {
  for (Server& server : servers)
    watched_.push_back(Watched{.server = server, .since = loop_.now(), .probe = nullptr});
  look_later();
}

Watcher::~Watcher() { loop_.cancel(timer_); }

void Watcher::look_later() {
  timer_ = loop_.after(options_.look_interval, [this] { look(); });
}

void Watcher::look() {
  look_later();
  for (Watched& watched : watched_) look_at(watched);
}

void Watcher::look_at(Watched& watched) {
  switch (watched.state) {
    case State::kGivenUp: return;
    case State::kPausing:
      if (loop_.now() >= watched.since) restart(watched);
      return;
    case State::kUp:
    case State::kStarting:
      if (std::optional<std::string> how = watched.server.death()) {
        died(watched, "redis-server " + *how);
      } else if (watched.state == State::kStarting) {
        came_up(watched);
      }
      return;
  }
}

void Watcher::died(Watched& watched, std::string how) {
  watched.probe.reset();
  const bool was_steady =
      watched.state == State::kUp && loop_.now() - watched.since >= options_.steady_after;
  watched.deaths = was_steady ? 1 : watched.deaths + 1;
  const std::string& name = watched.server.child().name;
  if (watched.deaths > options_.restarts_max) {
    watched.state = State::kGivenUp;
    how += "\nIt died " + std::to_string(watched.deaths) + " times in a row and stays down.";
    return told_(ChildEvent{ChildEvent::Kind::kGivenUp, name, std::move(how)});
  }
  milliseconds pause = options_.restart_first;
  for (std::uint32_t i = 1; i < watched.deaths && pause < options_.restart_longest; ++i) pause *= 2;
  watched.state = State::kPausing;
  watched.since = loop_.now() + std::min(pause, options_.restart_longest);
  told_(ChildEvent{ChildEvent::Kind::kDied, name, std::move(how)});
}

void Watcher::restart(Watched& watched) {
  const Result<void> spawned = watched.server.spawn(program_);
  watched.state = State::kStarting;
  if (!spawned) died(watched, spawned.error().message);
}

void Watcher::came_up(Watched& watched) {
  if (watched.probe && watched.probe->answered()) {
    watched.probe.reset();
    watched.state = State::kUp;
    watched.since = loop_.now();
    const Child& child = watched.server.child();
    told_(ChildEvent{ChildEvent::Kind::kRestarted, child.name,
                     "answers at " + net::to_string(child.address) + " as process " +
                         std::to_string(child.pid)});
  } else if (!watched.probe || watched.probe->ended()) {
    watched.probe = std::make_shared<Probe>();
    watched.probe->begin(loop_, watched.server.child());
  }
}

}  // namespace cleave::supervise
