// Log lines for people and for programs that collect them, on standard error. Never on the data
// path. Every line has its date and zone; no byte in it can move a terminal's cursor.
//
//   text   2026-11-27T08:00:00.123+00:00 warning node a is down: ...
//   json   {"time":"2026-...","level":"warning","event":"node-down","node":"a","text":"..."}
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

namespace cleave::app {

enum class LogFormat : std::uint8_t { kText, kJson };
enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };

// One line, and whom and what it is about.
struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string event = {};  // what kind of line it is, for programs; empty: any
  std::string node = {};   // whom it is about; empty: nobody
  std::string text = {};
};

// Before the threads start.
void set_log_format(LogFormat format);

void log_line(const LogLine& line);
void log_info(const std::string& text);
void log_error(const std::string& text);

// What of a line stands behind the date and the level: the text, or fields of a JSON object.
std::string log_body(const LogLine& line, LogFormat format);

}  // namespace cleave::app
