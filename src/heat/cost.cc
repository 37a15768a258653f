#include "heat/cost.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"
#include "base/wide.h"

namespace cleave::heat {
namespace {

constexpr std::string_view kLinePrefix = "cmdstat_";

// The number of `name=number` in a list such as "calls=3,usec=12,usec_per_call=4.00".
std::optional<std::uint64_t> field(std::string_view fields, std::string_view name) {
  while (!fields.empty()) {
    const std::string_view each = fields.substr(0, fields.find(','));
    fields.remove_prefix(std::min(fields.size(), each.size() + 1));
    if (!each.starts_with(name) || each.substr(name.size(), 1) != "=") continue;
    const std::string_view digits = each.substr(name.size() + 1);
    std::uint64_t number = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failed != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return number;
  }
  return std::nullopt;
}

std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
  return after >= before ? after - before : after;
}

std::uint64_t without(std::uint64_t from, std::uint64_t take) {
  return from - std::min(from, take);
}

}  // namespace

Result<CommandStats> parse_commandstats(std::string_view text) {
  CommandStats stats;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with(kLinePrefix)) continue;
    const std::size_t colon = line.find(':');
    const std::string_view fields = colon == line.npos ? "" : line.substr(colon + 1);
    const auto calls = field(fields, "calls");
    const auto usec = field(fields, "usec");
    if (!calls || !usec) {
      return fail(Code::kInvalid, "commandstats: want calls= and usec= as decimal numbers, got '" +
                                      std::string(line) + "'");
    }
    const std::string name = lowered(line.substr(kLinePrefix.size(), colon - kLinePrefix.size()));
    stats[name] = {.calls = *calls, .usec = *usec};
  }
  return stats;
}

CommandStats since(const CommandStats& before, const CommandStats& after) {
  CommandStats interval;
  for (const auto& [name, now] : after) {
    const auto old = before.find(name);
    CommandStat past;
    // Both counters begin again together, so the calls decide for both.
    if (old != before.end() && old->second.calls <= now.calls) past = old->second;
    const CommandStat change{.calls = now.calls - past.calls, .usec = grown(past.usec, now.usec)};
    if (change.calls > 0) interval.emplace(name, change);
  }
  return interval;
}

void add(CommandStats& sum, const CommandStats& more) {
  for (const auto& [name, stat] : more) {
    CommandStat& total = sum[name];
    total.calls += stat.calls;
    total.usec += stat.usec;
  }
}

std::uint32_t request_ns(const CommandStats& interval, std::uint64_t cpu_us,
                         std::uint64_t calls_min) {
  CHECK(calls_min > 0);  // the mean of no call is none
  Wide calls = 0;
  Wide commands_us = 0;
  for (const auto& [name, stat] : interval) {
    calls += stat.calls;
    commands_us += stat.usec;
  }
  if (cpu_us == 0 || calls < calls_min) return kRequestNs;
  const Wide outside_ns = cpu_us > commands_us ? (cpu_us - commands_us) * 1'000 / calls : 0;
  return static_cast<std::uint32_t>(
      std::clamp(outside_ns, Wide{kRequestNsLeast}, Wide{kRequestNs}));
}

CommandPrices prices(const CommandStats& interval, std::uint64_t calls_min,
                     std::uint32_t request_ns) {
  CommandPrices result;
  for (const auto& [name, stat] : interval) {
    if (stat.calls == 0 || stat.calls < calls_min) continue;
    const Wide execute_ns = Wide{stat.usec} * 1'000 / stat.calls;
    const Wide bounded = std::min(execute_ns, Wide{0xFFFFFFFFU - request_ns});
    result.emplace(name, request_ns + static_cast<std::uint32_t>(bounded));
  }
  return result;
}

std::uint32_t price_of(const CommandPrices& prices, std::string_view command) {
  const auto found = prices.find(command);
  return found == prices.end() ? kCommandNsDefault : found->second;
}

Attribution reconcile(const CommandStats& interval, const CommandStats& own,
                      const std::set<std::string, std::less<>>& writes, const Routed& routed) {
  Attribution result;
  for (const auto& [name, stat] : interval) {
    const auto ours = own.find(name);
    const std::uint64_t own_calls = ours == own.end() ? 0 : ours->second.calls;
    const std::uint64_t calls = without(stat.calls, own_calls);
    result.server_requests += calls;
    if (writes.contains(name)) result.server_writes += calls;
  }
  const std::uint64_t edge = routed.edge_requests;
  result.unattributed_requests = without(without(result.server_requests, routed.requests), edge);
  result.unattributed_writes = without(without(result.server_writes, routed.writes), edge);
  if (result.server_requests > 0) {
    result.unattributed_ppm = static_cast<std::uint32_t>(Wide{result.unattributed_requests} *
                                                         1'000'000 / result.server_requests);
  }
  return result;
}

}  // namespace cleave::heat
