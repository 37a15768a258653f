// Balancer, where scripts may be writing keys that they do not name (docs/formats/strays.md).
#include <string>
#include <string_view>
#include <utility>

#include "control/balancer.h"
#include "control/describe.h"

namespace cleave::control {
namespace {

constexpr std::string_view kMadeUp =
    "keys have appeared where the ring does not look, and scripts or functions named keys of these "
    "ranges in the last 7 days: keys whose names they make up stay behind in a move. See 'cleave "
    "strays', let scripts name every key (or share a {tag}), then say 'cleave strays --accept'";

constexpr std::string_view kScripts = "scripts: ";

}  // namespace

// A key whose name a script made up stays behind when its range moves: counters begin again, locks
// are gone. Where such keys appear, what scripts were run on stays where it is, until a person says
// that they are known.
void Balancer::leave_out_scripts(balance::Plan& plan) const {
  const auto waits = [&](const balance::PlannedMove& move) {
    return !balance::ordered(move.cause) && !scripts_warning(move.ranges).empty();
  };
  for (const balance::PlannedMove& move : plan.moves) {
    if (!waits(move)) continue;
    plan.verdicts.push_back(
        {.why = balance::Why::kScripts,
         .node = move.source,
         .text = std::string(kMadeUp).append("; it would be: ").append(move.reason)});
  }
  std::erase_if(plan.moves, waits);
}

// What a person ordered begins all the same.
void Balancer::warn_of_scripts(const ring::RangeSet& ranges) const {
  std::string warning = scripts_warning(ranges);
  if (warning.empty()) return;
  options_.decided({.at = options_.loop.wall_now(),
                    .kind = "warning",
                    .subject = describe(ranges),
                    .reason = std::move(warning),
                    .predicted = "",
                    .real = ""});
}

std::string Balancer::scripts_warning(const ring::RangeSet& ranges) const {
  if (!options_.new_strays() || !scripts_.named(ranges, options_.loop.now())) return {};
  return std::string(kScripts).append(kMadeUp);
}

}  // namespace cleave::control
