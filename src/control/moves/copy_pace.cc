#include "control/moves/copy_pace.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::control {

void CopyPace::step(const std::vector<ServerPace>& servers) {
  if (max_ == 0) return;
  const bool suffers = std::ranges::any_of(servers, [](const ServerPace& server) {
    return server.p99 > std::max(2 * server.baseline, kFine);
  });
  const std::uint64_t part = std::max<std::uint64_t>(max_ / kParts, 1);
  CHECK(rate_ >= part && rate_ <= max_);
  rate_ = suffers ? std::max(rate_ / 2, part) : std::min(rate_ + part, max_);
}

}  // namespace cleave::control
