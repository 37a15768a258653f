#include "app/text/presplit_history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "app/times.h"
#include "base/ppm.h"
#include "base/to_number.h"
#include "base/wide.h"

namespace cleave::app {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::uint32_t kScalePpmMin = 10'000;
constexpr std::uint32_t kScalePpmMax = 100'000'000;

using Strip = std::pair<std::string, std::string>;  // first and last token

std::map<Strip, std::uint64_t> most_of(const Json& points) {
  std::map<Strip, std::uint64_t> most;
  for (const Json& point : points) {
    for (const Json& strip : point.value("strips", Json::array())) {
      std::uint64_t& load = most[{strip.value("first", ""), strip.value("last", "")}];
      load = std::max(load, strip.value("load_ns", std::uint64_t{0}));
    }
  }
  return most;
}

}  // namespace

UnixMillis Replay::from() const { return UnixMillis{day.value() + from_hour * kHourMs}; }
UnixMillis Replay::until() const { return UnixMillis{day.value() + until_hour * kHourMs}; }

Result<void> read_hours(std::string_view text, Replay& replay) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto from = to_number<std::uint32_t>(text.substr(0, dash));
  const auto until = to_number<std::uint32_t>(text.substr(std::min(dash + 1, text.size())));
  if (!from || !until || *from >= *until || *until > 24) {
    return fail(Code::kInvalid, "want hours like 20-22 (UTC, from 0 to 24, in order), got '" +
                                    std::string(text) + "'");
  }
  replay.from_hour = *from;
  replay.until_hour = *until;
  return {};
}

Result<std::uint32_t> parse_scale(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string part(text.substr(std::min(dot + 1, text.size())));
  const auto whole = to_number<std::uint32_t>(text.substr(0, dot));
  const bool short_part = part.size() <= 6 && (dot == text.size() || !part.empty());
  part.resize(6, '0');
  const auto parts = to_number<std::uint32_t>(part);
  const std::uint64_t ppm =
      whole && parts && short_part ? std::uint64_t{*whole} * kMillion + *parts : 0;
  if (ppm < kScalePpmMin || ppm > kScalePpmMax) {
    return fail(Code::kInvalid,
                "want a factor from 0.01 to 100, like 1.5, got '" + std::string(text) + "'");
  }
  return static_cast<std::uint32_t>(ppm);
}

Result<Json> events_of(const Json& history, const Replay& replay, UnixMillis now) {
  Json expect = Json::array();
  for (const auto& [strip, load] : most_of(history.value("points", Json::array()))) {
    const auto scaled = static_cast<std::uint64_t>(Wide{load} * replay.scale_ppm / kMillion);
    if (scaled == 0) continue;
    expect.push_back({{"ranges", Json::array({{{"first", strip.first}, {"last", strip.second}}})},
                      {"load_ns", scaled}});
  }
  if (expect.empty()) {
    return fail(Code::kNotFound, "no heat is recorded from " + to_text(replay.from()) + " to " +
                                     to_text(replay.until()) +
                                     "; a router that leads records it, for seven days");
  }
  const std::int64_t length = replay.until().value() - replay.from().value();
  std::int64_t start = now.value() / kDayMs * kDayMs + replay.from_hour * kHourMs;
  if (start + length <= now.value()) start += kDayMs;
  const std::string day = to_text(replay.day).substr(0, 10);
  return Json::array({{{"name", "replay-" + day + "-" + std::to_string(replay.from_hour) + "h"},
                       {"lead_from_ms", start - replay.lead.count()},
                       {"start_ms", start},
                       {"end_ms", start + length},
                       {"expect", std::move(expect)}}});
}

}  // namespace cleave::app
