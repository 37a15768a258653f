#include "app/times.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/to_number.h"

namespace cleave::app {
namespace {

constexpr std::int64_t kDurationMsMax = 10 * 366 * kDayMs;
constexpr std::string_view kDateForm = "0000-00-00";

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
    {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", kDayMs}}};

// Whether the text has a digit where the form has one, and the same character elsewhere.
bool has_form(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t at = 0; at < form.size(); ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (form[at] == '0' ? !digit : text[at] != form[at]) return false;
  }
  return true;
}

int digits(std::string_view text, std::size_t at, std::size_t count) {
  return to_number<int>(text.substr(at, count)).value_or(0);
}

std::optional<std::int64_t> ms_of_day(std::string_view text) {
  if (!has_form(text, "00:00Z") && !has_form(text, "00:00:00Z")) return std::nullopt;
  const int hour = digits(text, 0, 2);
  const int minute = digits(text, 3, 2);
  const int second = text.size() > 6 ? digits(text, 6, 2) : 0;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return (hour * 3'600LL + minute * 60LL + second) * 1'000;
}

std::string two(std::int64_t number) { return std::to_string(100 + number).substr(1); }

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  if (end != std::string_view::npos) {
    const auto count = to_number<std::int64_t>(text.substr(0, end));
    for (const auto& [unit, ms] : kUnits) {
      if (!count || text.substr(end) != unit || *count > kDurationMsMax / ms) continue;
      return milliseconds{*count * ms};
    }
  }
  return fail(Code::kInvalid,
              "want a duration like 90s, 15m, 2h or 1d, got '" + std::string(text) + "'");
}

Result<UnixMillis> parse_date(std::string_view text) {
  if (has_form(text, kDateForm)) {
    const std::chrono::year_month_day date{
        std::chrono::year{digits(text, 0, 4)},
        std::chrono::month{static_cast<unsigned>(digits(text, 5, 2))},
        std::chrono::day{static_cast<unsigned>(digits(text, 8, 2))}};
    const std::int64_t day = std::chrono::sys_days{date}.time_since_epoch().count();
    if (date.ok() && day >= 0) return UnixMillis{day * kDayMs};
  }
  return fail(Code::kInvalid, "want a date like 2026-11-27, got '" + std::string(text) + "'");
}

Result<UnixMillis> parse_time(std::string_view text, UnixMillis now) {
  if (text == "now") return now;
  if (text.starts_with('+')) {
    const Result<milliseconds> after = parse_duration(text.substr(1));
    if (!after) return std::unexpected(after.error());
    return UnixMillis{now.value() + after->count()};
  }
  const std::size_t dated = kDateForm.size();
  if (text.size() > dated && (text[dated] == 'T' || text[dated] == ' ')) {
    const Result<UnixMillis> date = parse_date(text.substr(0, dated));
    const std::optional<std::int64_t> time = ms_of_day(text.substr(dated + 1));
    if (date && time) return UnixMillis{date->value() + *time};
  }
  return fail(Code::kInvalid, "want a time in UTC like 2026-11-27T08:00:00Z, 'now' or +2h, got '" +
                                  std::string(text) + "'");
}

std::string to_text(UnixMillis time) {
  const std::chrono::sys_days day{std::chrono::days{time.value() / kDayMs}};
  const std::chrono::year_month_day date{day};
  const std::int64_t second = time.value() % kDayMs / 1'000;
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two(static_cast<unsigned>(date.month())) + "-" + two(static_cast<unsigned>(date.day())) +
         " " + two(second / 3'600) + ":" + two(second / 60 % 60) + ":" + two(second % 60) + "Z";
}

}  // namespace cleave::app
