#include "control/cost_book.h"

#include <utility>

namespace cleave::control {

void CostBook::note(NodeId node, std::string_view command_stats) {
  Result<heat::CommandStats> now = heat::parse_commandstats(command_stats);
  if (!now || now->empty()) return;
  const auto before = seen_.find(node);
  if (before != seen_.end()) heat::add(interval_, heat::since(before->second, *now));
  seen_.insert_or_assign(node, std::move(*now));
}

void CostBook::settle() {
  for (auto& [name, stat] : recent_) stat = {.calls = stat.calls / 2, .usec = stat.usec / 2};
  heat::add(recent_, std::exchange(interval_, {}));
  for (const auto& [name, price] : heat::prices(recent_, kCallsMin)) prices_[name] = price;
}

}  // namespace cleave::control
