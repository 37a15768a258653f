#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "base/shown.h"

namespace cleave::app {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";

// Set once, before the threads.
std::atomic<LogFormat> format_now{LogFormat::kText};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> kept = [] {
    auto made = spdlog::stderr_color_mt("cleave");
    made->set_pattern(kTextPattern);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *kept;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void set_log_format(LogFormat format) {
  format_now = format;
  logger().set_pattern(format == LogFormat::kJson ? kJsonPattern : kTextPattern);
}

std::string log_body(const LogLine& line, LogFormat format) {
  if (format == LogFormat::kText) return printable(line.text);
  nlohmann::ordered_json fields;
  fields["event"] = line.event.empty() ? "note" : line.event;
  if (!line.node.empty()) fields["node"] = printable(line.node);
  fields["text"] = printable(line.text);
  const std::string object = fields.dump();
  return object.substr(1, object.size() - 2);
}

void log_line(const LogLine& line) {
  logger().log(level_of(line.level), "{}", log_body(line, format_now));
}

void log_info(const std::string& text) { log_line({.level = LogLevel::kInfo, .text = text}); }
void log_error(const std::string& text) { log_line({.level = LogLevel::kError, .text = text}); }

}  // namespace cleave::app
