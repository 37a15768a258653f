#include "balance/input/daily_windows.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cleave::balance {
namespace {

constexpr std::uint32_t kMinutesADay = 1'440;
constexpr std::int64_t kMillisAMinute = 60'000;

// "06:30" -> 390.
std::optional<std::uint32_t> parse_minute(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto part = [&](std::size_t at, std::uint32_t below) -> std::optional<std::uint32_t> {
    std::uint32_t number = 0;
    const char* const end = text.data() + at + 2;
    const auto [stopped, error] = std::from_chars(text.data() + at, end, number);
    if (error != std::errc{} || stopped != end || number >= below) return std::nullopt;
    return number;
  };
  const auto hour = part(0, 24);
  const auto minute = part(3, 60);
  if (!hour || !minute) return std::nullopt;
  return *hour * 60 + *minute;
}

std::string two_digits(std::uint32_t number) { return std::to_string(100 + number).substr(1); }

std::string to_text(std::uint32_t minute) {
  return two_digits(minute / 60) + ":" + two_digits(minute % 60);
}

std::uint32_t minute_of(UnixMillis now) {
  return static_cast<std::uint32_t>(now.value() / kMillisAMinute % kMinutesADay);
}

// From `minute` on to the next `other`, at most a day.
std::uint32_t minutes_until(std::uint32_t minute, std::uint32_t other) {
  return (other + kMinutesADay - minute) % kMinutesADay;
}

bool covers(const DailyWindow& window, std::uint32_t minute) {
  if (window.from == window.until) return true;
  return minutes_until(window.from, minute) < minutes_until(window.from, window.until);
}

}  // namespace

Result<DailyWindow> parse_window(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto from = parse_minute(text.substr(0, dash));
  const auto until = dash == text.npos ? std::nullopt : parse_minute(text.substr(dash + 1));
  if (!from || !until) {
    return fail(Code::kInvalid,
                "want a window of UTC time like 22:00-06:00, got '" + std::string(text) + "'");
  }
  return DailyWindow{.from = *from, .until = *until};
}

std::string to_string(const DailyWindow& window) {
  return to_text(window.from) + "-" + to_text(window.until);
}

bool is_open(std::span<const DailyWindow> windows, UnixMillis now) {
  return windows.empty() || std::ranges::any_of(windows, [&](const DailyWindow& window) {
           return covers(window, minute_of(now));
         });
}

UnixMillis opens_at(std::span<const DailyWindow> windows, UnixMillis now) {
  if (is_open(windows, now)) return now;
  std::uint32_t soonest = kMinutesADay;
  for (const DailyWindow& window : windows) {
    soonest = std::min(soonest, minutes_until(minute_of(now), window.from));
  }
  const std::int64_t this_minute = now.value() / kMillisAMinute;
  return UnixMillis{(this_minute + soonest) * kMillisAMinute};
}

}  // namespace cleave::balance
