#include "control/orders/presplit.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::control {
namespace {

// Fewer requests a second make no mean worth believing.
constexpr std::uint64_t kRequestsMin = 10;
constexpr std::uint64_t kLoadMost = ring::kNumberMax;

std::uint32_t cost_of(const Demand& demand, const RequestCosts& costs) {
  if (demand.command.empty() && demand.bytes == 0) return costs.mean_ns;
  const std::string command = demand.command.empty() ? "get" : demand.command;
  return heat::weight_ns(heat::price_of(costs.commands, command), demand.bytes);
}

}  // namespace

std::uint32_t mean_request_ns(const heat::Picture& picture) {
  std::uint64_t requests = 0;
  for (const heat::NodeLoad& node : picture.nodes) requests += node.requests;
  if (requests < kRequestsMin) return heat::kCommandNsDefault;
  const std::uint64_t mean = heat::total_mean(picture) / requests;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(mean, 1, 0xFFFFFFFFU));
}

std::uint64_t load_of(const Demand& demand, const RequestCosts& costs) {
  CHECK(costs.mean_ns > 0);
  if (demand.load > 0) return demand.load;
  const Wide load = Wide{demand.requests} * cost_of(demand, costs);
  return static_cast<std::uint64_t>(std::min(load, Wide{kLoadMost}));
}

ring::ExpectedEvent event_of(const Announcement& announcement, const RequestCosts& costs) {
  std::map<ring::TokenRange, std::uint64_t> loads;
  for (const Demand& demand : announcement.demands) {
    const std::uint64_t each = load_of(demand, costs);
    for (const ring::TokenRange& range : demand.ranges) {
      std::uint64_t& load = loads[range];
      load = std::min(load + std::min(each, kLoadMost), kLoadMost);
    }
  }
  ring::ExpectedEvent event{.name = announcement.name,
                            .lead_from = announcement.lead_from,
                            .start = announcement.start,
                            .end = announcement.end,
                            .loads = {}};
  for (const auto& [range, load] : loads) event.loads.push_back({.range = range, .load = load});
  return event;
}

std::vector<balance::Expected> expected_of(const ring::Document& document) {
  std::vector<balance::Expected> expected;
  for (const ring::ExpectedEvent& event : document.expected) {
    CHECK(event.lead_from <= event.start && event.start < event.end);
    for (const ring::ExpectedLoad& each : event.loads) {
      expected.push_back({.range = each.range,
                          .load = each.load,
                          .lead_from = event.lead_from,
                          .start = event.start,
                          .end = event.end,
                          .event = event.name});
    }
  }
  return expected;
}

UnixMillis busiest(const std::vector<balance::Expected>& expected, UnixMillis now) {
  // Each end comes before the starts of the same time: who ends then is there no more.
  std::map<UnixMillis, std::pair<Wide, Wide>> changes;  // what ends and what starts
  for (const balance::Expected& each : expected) {
    changes[each.start].second += each.load;
    changes[each.end].first += each.load;
  }
  Wide load = 0;
  Wide most = 0;
  UnixMillis found = now;
  for (const auto& [at, change] : changes) {
    CHECK(load + change.second >= change.first);  // nothing ends that has not started
    load += change.second - change.first;
    if (load <= most) continue;
    most = load;
    found = at;
  }
  return std::max(found, now);
}

Result<void> check_room(const Presplit& presplit) {
  if (presplit.plan.advice_nodes == 0) return {};
  return fail(Code::kConflict, "the pool is too small for what is expected: " +
                                   presplit.plan.advice + ", or force it");
}

EventState state_of(const ring::ExpectedEvent& event, UnixMillis now) {
  if (event.end <= now) return EventState::kOver;
  if (event.start <= now) return EventState::kOn;
  return event.lead_from <= now ? EventState::kPreparing : EventState::kWaiting;
}

std::string_view to_string(EventState state) {
  switch (state) {
    case EventState::kWaiting: return "waiting";
    case EventState::kPreparing: return "preparing";
    case EventState::kOn: return "on";
    case EventState::kOver: return "over";
  }
  return "unknown";
}

}  // namespace cleave::control
