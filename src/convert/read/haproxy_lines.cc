#include "convert/read/haproxy_lines.h"

#include <algorithm>
#include <array>
#include <optional>

#include "convert/pool/notes.h"

namespace cleave::convert {
namespace {

constexpr std::array<std::string_view, 18> kSections = {
    "global",    "defaults",    "frontend", "backend",   "listen",      "peers",
    "resolvers", "mailers",     "userlist", "cache",     "program",     "http-errors",
    "ring",      "log-forward", "fcgi-app", "crt-store", "log-profile", "traces"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

char unescaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

// The words of one line; nullopt when a quote is not closed.
std::optional<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && c == '#') break;
    if (quote == 0 && is_blank(c)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && at + 1 < line.size()) {
      words.back().push_back(unescaped(line[++at]));
    } else {
      words.back().push_back(c);
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

}  // namespace

Result<std::vector<HaproxySection>> parse_haproxy(std::string_view text, const std::string& file) {
  std::vector<HaproxySection> sections;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    auto words = words_of(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!words) return fail(Code::kInvalid, at_line(file, line, "a quote is not closed"));
    if (words->empty()) continue;
    const std::string& first = words->front();
    if (first.starts_with('.')) {
      return fail(Code::kInvalid, at_line(file, line,
                                          "'" + first +
                                              "': cleave does not follow "
                                              "conditions; leave in what holds"));
    }
    if (std::ranges::find(kSections, first) != kSections.end()) {
      sections.push_back({.head = {std::move(*words), line}, .lines = {}});
    } else if (sections.empty()) {
      return fail(Code::kInvalid, at_line(file, line, "'" + first + "' stands in no section"));
    } else {
      sections.back().lines.push_back({std::move(*words), line});
    }
  }
  return sections;
}

}  // namespace cleave::convert
