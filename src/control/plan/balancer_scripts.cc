// Balancer, where scripts may be writing keys that they do not name (docs/formats/strays.md).
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "control/orders/describe.h"
#include "control/plan/balancer.h"

namespace cleave::control {
namespace {

constexpr std::string_view kNamed =
    "keys have appeared where the ring does not look, and scripts or functions named keys of these "
    "ranges in the last 7 days";
constexpr std::string_view kPerhapsNamed =
    "keys lie where the ring does not look, and scripts or functions were run on the servers. "
    "Which keys they named before this leader's time nobody knows, so for 7 days all ranges count "
    "as named";
constexpr std::string_view kStayBehind =
    ": keys whose names they make up stay behind in a move. See 'cleave strays', let scripts name "
    "every key (or share a {tag}), then say 'cleave strays --accept'";

constexpr std::string_view kScripts = "scripts: ";

}  // namespace

// A key whose name a script made up stays behind when its range moves: counters begin again, locks
// are gone. Where such keys appear, what scripts were run on stays where it is, until a person says
// that they are known.
void Balancer::leave_out_scripts(balance::Plan& plan) const {
  std::erase_if(plan.moves, [&](const balance::PlannedMove& move) {
    if (balance::ordered(move.cause)) return false;
    const std::string why = made_up_keys(move.ranges);
    if (why.empty()) return false;
    plan.verdicts.push_back({.why = balance::Why::kScripts,
                             .node = move.source,
                             .text = why + "; it would be: " + move.reason});
    return true;
  });
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
  const std::string why = made_up_keys(ranges);
  return why.empty() ? why : std::string(kScripts) + why;
}

// Why keys may stay behind when these ranges move; empty: nothing is known of such.
std::string Balancer::made_up_keys(const ring::RangeSet& ranges) const {
  if (!options_.new_strays()) return {};
  switch (scripts_.named(ranges, scripts_ran(), options_.loop.now())) {
    case ScriptBook::Named::kNo: return {};
    case ScriptBook::Named::kPerhaps: return std::string(kPerhapsNamed).append(kStayBehind);
    case ScriptBook::Named::kYes: return std::string(kNamed).append(kStayBehind);
  }
  return {};
}

ScriptsRan Balancer::scripts_ran() const {
  const auto ran = [](const NodeFacts& facts) { return !facts.scripts.empty(); };
  return std::ranges::any_of(options_.links.facts(), ran) ? ScriptsRan::kYes : ScriptsRan::kNo;
}

}  // namespace cleave::control
