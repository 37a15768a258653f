#include "control/observe/cost_book.h"

#include <utility>

#include "base/check.h"

namespace cleave::control {

void CostBook::note(NodeId node, std::string_view command_stats, std::uint64_t cpu_us) {
  Result<heat::CommandStats> now = heat::parse_commandstats(command_stats);
  if (!now || now->empty()) return;
  untold_ = untold_ || cpu_us == 0;
  const auto before = seen_.find(node);
  if (before != seen_.end()) {
    heat::add(interval_.stats, heat::since(before->second.stats, *now));
    // It went back where the server restarted, together with the other counters.
    CHECK(!before->second.stats.empty());
    const std::uint64_t begun = before->second.cpu_us <= cpu_us ? before->second.cpu_us : 0;
    interval_.cpu_us += cpu_us - begun;
  }
  seen_.insert_or_assign(node, Counted{.stats = std::move(*now), .cpu_us = cpu_us});
}

void CostBook::settle() {
  for (auto& [name, stat] : recent_.stats) {
    stat = {.calls = stat.calls / 2, .usec = stat.usec / 2};
  }
  const Counted interval = std::exchange(interval_, {});
  heat::add(recent_.stats, interval.stats);
  recent_.cpu_us = recent_.cpu_us / 2 + interval.cpu_us;
  const std::uint64_t cpu_us = std::exchange(untold_, false) ? 0 : recent_.cpu_us;
  const std::uint32_t outside = heat::request_ns(recent_.stats, cpu_us, kRequestsMin);
  for (const auto& [name, price] : heat::prices(recent_.stats, kCallsMin, outside))
    prices_[name] = price;
}

}  // namespace cleave::control
