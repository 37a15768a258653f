#include "rehearse/workloads/trace.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "rehearse/workloads/trace_commands.h"
#include "ring/vnode.h"

namespace cleave::rehearse {
namespace {

// "1339518083.107412", exactly: a double would lose the fraction's end.
std::optional<nanoseconds> parse_time(std::string_view text) {
  static constexpr std::uint64_t kSecondsMax = 9'000'000'000;  // what nanoseconds can hold
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(whole.data(), whole.data() + whole.size(), count);
  if (failed != std::errc{} || end != whole.data() + whole.size() || count > kSecondsMax)
    return std::nullopt;
  std::int64_t fraction = 0;
  std::int64_t unit = 1'000'000'000;
  if (point != std::string_view::npos) {
    for (const char digit : text.substr(point + 1)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      unit /= 10;
      fraction += unit * (digit - '0');  // past nanoseconds: nothing
    }
  }
  return seconds{static_cast<std::int64_t>(count)} + nanoseconds{fraction};
}

// The next field of a CSV line, unquoted; nullopt for a quote that does not end.
std::optional<std::string> next_field(std::string_view& rest) {
  std::string field;
  if (!rest.starts_with('"')) {
    const std::size_t comma = rest.find(',');
    field = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    return field;
  }
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] != '"') {
      field += rest[at];
    } else if (at + 1 < rest.size() && rest[at + 1] == '"') {
      field += rest[at++];
    } else {
      rest.remove_prefix(at + 1);
      if (!rest.empty() && rest[0] != ',') return std::nullopt;
      if (!rest.empty()) rest.remove_prefix(1);
      return field;
    }
  }
  return std::nullopt;
}

// What stands behind a backslash; moves past it. As sdscatrepr of Redis writes it.
std::optional<char> unescaped(std::string_view text, std::size_t& at) {
  switch (text[at]) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'a': return '\a';
    case 'b': return '\b';
    case 'x': {
      if (at + 2 >= text.size()) return std::nullopt;
      const auto byte = hex_byte(text[at + 1], text[at + 2]);
      at += 2;
      return byte;
    }
    default: return text[at];  // a quote or a backslash
  }
}

// "set" "x" "3" -> its words; nullopt when it is not such a list.
std::optional<std::vector<std::string>> parse_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '"') return std::nullopt;
    std::string argument;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        argument += text[at];
        continue;
      }
      if (++at >= text.size()) return std::nullopt;
      const std::optional<char> byte = unescaped(text, at);
      if (!byte) return std::nullopt;
      argument += *byte;
    }
    if (at >= text.size()) return std::nullopt;
    arguments.push_back(std::move(argument));
    ++at;
    if (at < text.size() && text[at++] != ' ') return std::nullopt;
  }
  return arguments;
}

std::string_view without_return(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

void TraceParser::line(std::string_view text) {
  ++trace_.lines;
  text = without_return(text);
  if (text.empty()) return;
  if (text.size() > limits_.line_bytes) return bad("longer than a line may be");
  if (format_ == TraceFormat::kCsv) {
    csv(text);
  } else {
    monitor(text);
  }
}

void TraceParser::long_line() {
  ++trace_.lines;
  bad("longer than a line may be");
}

void TraceParser::csv(std::string_view text) {
  std::vector<std::string> fields;
  for (std::string_view rest = text; !rest.empty();) {
    auto field = next_field(rest);
    if (!field) return bad("a quote does not end");
    fields.push_back(std::move(*field));
  }
  if (trace_.lines == 1 && fields[0] == "time") return;
  if (text.ends_with(',')) fields.emplace_back();
  if (fields.size() != 4) return bad("want time,key,op,bytes");
  const auto time = parse_time(fields[0]);
  if (!time) return bad("'" + fields[0] + "' is no time in seconds");
  if (fields[1].empty()) return bad("no key");
  std::uint64_t bytes = 0;
  const std::string& digits = fields[3];
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  if (!digits.empty() && (failed != std::errc{} || end != digits.data() + digits.size()))
    return bad("'" + digits + "' is no number of bytes");
  request(*time, fields[1], trace_access(fields[2]), bytes);
}

void TraceParser::monitor(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);  // as it is on the wire
  if (text == "OK") return;                          // the answer to MONITOR itself
  const std::size_t space = text.find(' ');
  const std::size_t client = text.find("] \"");
  const auto time = parse_time(text.substr(0, space));
  if (!time || client == std::string_view::npos || space >= client)
    return bad("want time [database client] \"command\" ...");
  const std::string_view where = text.substr(space + 1, client - space - 1);
  const auto arguments = parse_arguments(text.substr(client + 2));
  if (!where.starts_with('[') || !arguments) return bad("its arguments cannot be read");
  const TraceCommand command = trace_command(*arguments);
  // What a script calls is part of the script's own request.
  if (command.key == 0 || where.ends_with(" lua")) {
    ++trace_.keyless;
    return;
  }
  std::uint64_t bytes = 0;
  for (const std::string& each : *arguments) bytes += each.size();
  request(*time, (*arguments)[command.key], command.access, bytes);
}

void TraceParser::request(nanoseconds time, std::string_view key, heat::Access access,
                          std::uint64_t bytes) {
  auto number = numbers_.find(key);
  const bool room = number != numbers_.end() || trace_.keys.size() < limits_.keys;
  if (!room || trace_.requests.size() >= limits_.requests) {
    trace_.full = true;
    return;
  }
  if (number == numbers_.end()) {
    number =
        numbers_.emplace(std::string(key), static_cast<std::uint32_t>(trace_.keys.size())).first;
    trace_.keys.push_back({.name = std::string(key), .token = ring::vnode_token(key)});
  }
  TraceKey& known = trace_.keys[number->second];
  known.bytes = std::max(known.bytes, bytes);
  if (trace_.requests.empty()) first_ = time;
  // Several sources in one file may be a little out of order; time does not go back for it.
  const nanoseconds before = trace_.requests.empty() ? nanoseconds{0} : trace_.requests.back().at;
  trace_.requests.push_back(
      {.at = std::max(before, time - first_),
       .key = number->second,
       .access = access,
       .bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xFFFFFFFFU))});
}

void TraceParser::bad(std::string why) {
  ++trace_.bad;
  if (trace_.faults.size() >= limits_.faults) return;
  trace_.faults.push_back({.line = trace_.lines, .why = std::move(why)});
}

Trace read_trace(std::istream& in, TraceFormat format, TraceLimits limits) {
  TraceParser parser(format, limits);
  std::string text;
  bool too_long = false;
  const auto end_line = [&] {
    if (too_long) {
      parser.long_line();
    } else {
      parser.line(text);
    }
    text.clear();
    too_long = false;
  };
  char block[16'384];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    std::string_view rest(block, static_cast<std::size_t>(in.gcount()));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      text += rest.substr(0, end);
      end_line();
      rest.remove_prefix(end + 1);
    }
    text += rest;
    if (text.size() > limits.line_bytes) {
      too_long = true;
      text.clear();
    }
  }
  if (!text.empty() || too_long) end_line();
  return parser.take();
}

}  // namespace cleave::rehearse
