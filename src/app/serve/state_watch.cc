#include "app/serve/state_watch.h"

namespace cleave::app {
namespace {

constexpr milliseconds kStateLook{250};

}  // namespace

void StateWatch::start() { look(); }

void StateWatch::look() {
  options_.router.stats([this](const proxy::RouterStats& stats) { take(stats); });
  options_.loop.after(kStateLook, [this] { look(); });
}

void StateWatch::take(const proxy::RouterStats& stats) {
  const control::Status status = options_.order_taker.status();
  const std::vector<proxy::NodeHealth> health = options_.router.health();
  const admin::Seen seen{
      .status = status, .health = health, .router = stats, .store = options_.store};
  const UnixMillis now = options_.loop.wall_now();
  for (admin::StateChange& change : book_.look(admin::observe(seen, book_), now)) {
    const bool warning = change.level == admin::StateChange::Level::kWarning;
    options_.log({.level = warning ? LogLevel::kWarning : LogLevel::kInfo,
                  .event = std::move(change.event),
                  .node = std::move(change.node),
                  .text = std::move(change.text)});
  }
}

}  // namespace cleave::app
