#include "app/plan_text.h"

#include <iostream>

#include "app/times.h"

namespace cleave::app {
namespace {

void print_passed_over(const Json& decision) {
  const std::string text = passed_over(decision.value("alternatives", Json::array()));
  if (!text.empty()) std::cout << "      " << text << "\n";
}

std::string until(const Json& verdict) {
  const UnixMillis time{verdict.value("until_ms", std::int64_t{0})};
  return time == UnixMillis{} ? "" : " (until " + to_text(time) + ")";
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

void print_plan(const Json& plan) {
  for (const Json& move : plan["moves"]) {
    std::cout << "move  " << move.value("source", "") << " -> " << move.value("destination", "")
              << ": " << move.value("reason", "") << "\n";
    print_passed_over(move);
  }
  for (const Json& range : plan["merges"]) {
    std::cout << "merge " << range.value("first", "") << "-" << range.value("last", "") << "\n";
  }
  for (const Json& verdict : plan["verdicts"]) {
    std::cout << "not   " << verdict.value("node", "") << ": " << verdict.value("text", "")
              << until(verdict) << "\n";
    print_passed_over(verdict);
  }
  if (plan["moves"].empty() && plan["merges"].empty()) std::cout << "nothing to do\n";
  const std::string advice = plan.value("advice", "");
  if (!advice.empty()) std::cout << "advice: " << advice << "\n";
}

std::string ratio(const Json& plan, const char* field) {
  const auto ppm = plan.value(field, std::uint64_t{0});
  const std::string digits = std::to_string(100 + ppm / 10'000 % 100);
  return std::to_string(ppm / 1'000'000) + "." + digits.substr(1);
}

}  // namespace cleave::app
