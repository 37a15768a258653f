#include "app/text/plan_text.h"

#include <iostream>

#include "app/text/table.h"
#include "app/times.h"
#include "base/shown.h"

namespace cleave::app {
namespace {

constexpr std::size_t kKeyWidth = 40;
constexpr std::size_t kNodeWidth = 9;
constexpr std::size_t kWhatWidth = 12;    // "moved 123456"
constexpr std::size_t kMinuteWidth = 11;  // "11-27 08:00"; the sentences have the second

void print_line(const std::string& text, std::size_t indent) {
  std::cout << wrapped(text, kTerminalWidth, indent);
}

void print_passed_over(const Json& decision) {
  const std::string text = passed_over(decision.value("alternatives", Json::array()));
  if (!text.empty()) print_line("      " + text, 6);
}

// The reason's name, and what a person can do.
void print_remedy(const Json& verdict) {
  const std::string remedy = verdict.value("remedy", "");
  if (!remedy.empty()) print_line("      " + verdict.value("why", "") + ": " + remedy, 6);
}

std::string until(const Json& verdict) {
  const UnixMillis time{verdict.value("until_ms", std::int64_t{0})};
  return time == UnixMillis{} ? "" : " (until " + to_text(time) + ")";
}

// "11-27 08:00:00", in UTC.
std::string short_time(const Json& decision) {
  return to_text(UnixMillis{decision.value("at_ms", std::int64_t{0})}).substr(5, 14);
}

// "93>26", in percent of one core.
std::string change(const Json& decision, const char* field) {
  const auto found = decision.find(field);
  if (found == decision.end()) return "";
  const auto percent_of = [&](const char* when) {
    return std::to_string((found->value(when, std::uint64_t{0}) + 5'000'000) / 10'000'000);
  };
  return percent_of("before") + ">" + percent_of("after");
}

std::string count_at(const Json& decision, const char* field) {
  const auto number = decision.value(field, std::uint64_t{0});
  return number == 0 ? "" : compact(number);
}

std::string ranges_text(const Json& decision) {
  const auto ranges = decision.find("ranges");
  return ranges == decision.end() ? "" : std::to_string(ranges->size());
}

std::string row_text(const Json& decision) {
  std::string kind = decision.value("kind", "");
  if (decision.contains("move")) kind += " " + decision["move"].dump();
  return kind;
}

std::string sentences_of(const Json& decision) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += "  " + wrapped(sentence, kTerminalWidth - 2, 4);
  };
  add(short_time(decision) + "  " + row_text(decision) + "  " + decision.value("subject", ""));
  add("  " + decision.value("reason", ""));
  const std::string predicted = decision.value("predicted", "");
  const std::string real = decision.value("real", "");
  if (!predicted.empty()) add("  expected: " + predicted);
  if (!real.empty()) add("  came: " + real);
  const UnixMillis time{decision.value("until_ms", std::int64_t{0})};
  if (time != UnixMillis{}) add("  until " + to_text(time));
  const std::string others = passed_over(decision.value("alternatives", Json::array()));
  if (!others.empty()) add("  " + others);
  for (const Json& range : decision.value("ranges", Json::array())) {
    add("  range " + range.value("first", "") + "-" + range.value("last", ""));
  }
  return text;
}

}  // namespace

std::string passed_over(const Json& alternatives) {
  std::string text;
  for (const Json& each : alternatives) {
    text += text.empty() ? "passed over: " : ", ";
    text += each.value("node", "") + " (" + each.value("why", "") + ")";
  }
  return text;
}

std::string planned_text(const Json& move) {
  return move.value("source", "") + " -> " + move.value("destination", "") + ", about " +
         grouped(move.value("keys", std::uint64_t{0})) + " keys, " +
         compact(move.value("bytes", std::uint64_t{0})) + "B: " + move.value("reason", "");
}

std::string verdict_text(const Json& verdict) {
  const std::string node = verdict.value("node", "");
  const std::string about = node.empty() || node == "?" ? "the pool" : node;
  const std::string key = verdict.value("key", "");
  const bool unsplittable = verdict.value("why", "") == "unsplittable";
  const std::string what =
      unsplittable && !key.empty() ? "unsplittable key " + shortened(key, kKeyWidth) + " on " : "";
  return what + about + ": " + verdict.value("text", "") + until(verdict);
}

void print_plan(const Json& plan) {
  for (const Json& move : plan["moves"]) {
    print_line("move  " + planned_text(move), 6);
    print_passed_over(move);
  }
  for (const Json& range : plan["merges"]) {
    print_line("merge " + range.value("first", "") + "-" + range.value("last", ""), 6);
  }
  for (const Json& verdict : plan["verdicts"]) {
    print_line("not   " + verdict_text(verdict), 6);
    print_remedy(verdict);
    print_passed_over(verdict);
  }
  if (plan["moves"].empty() && plan["merges"].empty() && plan["verdicts"].empty()) {
    std::cout << "nothing to do\n";
  }
  const std::string advice = plan.value("advice", "");
  if (!advice.empty()) print_line("advice: " + advice, 6);
}

std::string decisions_text(const Json& decisions, Sentences sentences) {
  if (decisions.empty()) return "nothing was decided yet\n";
  if (sentences == Sentences::kYes) {
    std::string text;
    for (const Json& decision : decisions) text += sentences_of(decision);
    return text;
  }
  Table table({"when, UTC", "what", "from", "to", "ranges", "keys", "from %", "to %"});
  std::string about;
  for (const Json& decision : decisions) {
    if (!decision.contains("ranges")) continue;
    table.add({short_time(decision).substr(0, kMinuteWidth),
               shortened(row_text(decision), kWhatWidth),
               shortened(decision.value("source", ""), kNodeWidth),
               shortened(decision.value("destination", ""), kNodeWidth), ranges_text(decision),
               count_at(decision, "keys"), change(decision, "source_load_ns"),
               change(decision, "destination_load_ns")});
  }
  for (const Json& decision : decisions) {
    if (decision.contains("ranges")) continue;
    about += wrapped(short_time(decision) + "  " + decision.value("kind", "") + "  " +
                         shortened(decision.value("subject", ""), 40),
                     kTerminalWidth, 16) +
             "  " + wrapped(decision.value("reason", ""), kTerminalWidth - 2, 2);
  }
  const bool moved = table.rows() > 0;
  return (moved ? table.text() : "") + (moved && !about.empty() ? "\n" : "") + about +
         "more of each: cleave explain -v\n";
}

void print_begun(const Json& answer) {
  std::cout << "move " << answer["move"] << " begun; see `cleave status`\n";
  for (const Json& warning : answer.value("warnings", Json::array()))
    print_line("warning: " + warning.get<std::string>(), 2);
}

std::string ratio(const Json& plan, const char* field) {
  const auto ppm = plan.value(field, std::uint64_t{0});
  const std::string digits = std::to_string(100 + ppm / 10'000 % 100);
  return std::to_string(ppm / 1'000'000) + "." + digits.substr(1);
}

}  // namespace cleave::app
