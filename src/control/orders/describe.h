// Ranges and times as people read them in decisions, errors and logs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ring/document/document.h"
#include "ring/token_range.h"

namespace cleave::control {

// The node's name, or its number where the document has it no more.
inline std::string name_of(const ring::Document& document, NodeId node) {
  const ring::Node* const found = ring::find_node(document, node);
  return found == nullptr ? "node " + std::to_string(node.value()) : found->name;
}

// As `cleave move --range` takes it: both ends are inside.
inline std::string describe(const ring::TokenRange& range) { return ring::to_string(range); }

// The first three, then how many more: a move may have hundreds.
inline std::string describe(const std::vector<ring::TokenRange>& ranges) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < ranges.size() && i < kShown; ++i)
    text += (text.empty() ? "" : " ") + describe(ranges[i]);
  if (ranges.size() > kShown)
    text += " and " + std::to_string(ranges.size() - kShown) + " more ranges";
  return text;
}

// 2026-11-27 08:00:00 UTC
inline std::string time_text(UnixMillis time) {
  constexpr std::int64_t kDayMs = 86'400'000;
  const auto two = [](std::int64_t number) { return std::to_string(100 + number).substr(1); };
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{time.value() / kDayMs}}};
  const std::int64_t second = time.value() % kDayMs / 1'000;
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two(static_cast<unsigned>(date.month())) + "-" + two(static_cast<unsigned>(date.day())) +
         " " + two(second / 3'600) + ":" + two(second / 60 % 60) + ":" + two(second % 60) + " UTC";
}

}  // namespace cleave::control
