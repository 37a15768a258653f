#include "control/plan/move_outlook.h"

#include "base/wide.h"

namespace cleave::control {

std::optional<UnixMillis> done_at(const MoveProgress& progress, UnixMillis now) {
  const std::uint64_t copied = progress.keys_copied;
  const std::int64_t elapsed = now.value() - progress.started.value();
  if (elapsed < 0 || copied == 0 || copied < progress.keys_planned / 100 ||
      copied >= progress.keys_planned) {
    return std::nullopt;
  }
  const Wide left = progress.keys_planned - copied;
  const Wide more = static_cast<std::uint64_t>(elapsed) * left / copied;
  return UnixMillis{now.value() + static_cast<std::int64_t>(more)};
}

}  // namespace cleave::control
