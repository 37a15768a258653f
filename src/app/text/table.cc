#include "app/text/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/shown.h"

namespace cleave::app {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], characters(row[i]));
    }
  }
  return widths;
}

}  // namespace

std::string Table::text() const {
  const std::vector<std::size_t> widths = widths_of(rows_);
  std::string text;
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const std::vector<std::string>& row = rows_[number];
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - characters(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (is_number(row[i]) ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    const auto [first, last] = notes_.equal_range(number);
    for (auto note = first; note != last; ++note)
      text += "    " + wrapped(note->second, kTerminalWidth - 4, 4);
  }
  return text;
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::uint32_t width) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (whole == 0) return "";
  const std::uint64_t eighths = std::min(part, whole) * width * 8 / whole;
  std::string text;
  for (std::uint64_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string percent(std::uint64_t ppm) {
  const std::uint64_t tenths = (ppm + 500) / 1'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string compact(std::uint64_t number) {
  static constexpr std::array<const char*, 6> kUnits = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  std::uint64_t tenths = number * 10;
  if (number > UINT64_MAX / 10) tenths = UINT64_MAX;
  while (tenths >= 10'000 && unit + 1 < kUnits.size()) {
    tenths /= 1'000;
    ++unit;
  }
  if (unit == 0) return std::to_string(number);
  const std::string rest = tenths < 1'000 ? "." + std::to_string(tenths % 10) : "";
  return std::to_string(tenths / 10) + rest + kUnits[unit];
}

namespace {

// Where the first word ends. A command in backquotes is one word where it fits into a line: people
// copy it.
std::size_t end_of_word(std::string_view text, std::size_t most) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const bool open = std::ranges::count(text.substr(0, space), '`') % 2 != 0;
  if (!open) return space;
  const std::size_t closed = text.find('`', space);
  if (closed == std::string_view::npos) return space;
  const std::size_t end = std::min(text.find(' ', closed), text.size());
  return characters(text.substr(0, end)) <= most ? end : space;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    out += line + "\n";
    line.assign(indent, ' ');
  };
  std::size_t used = 0;  // characters of words on the line
  while (!text.empty()) {
    const std::size_t space = end_of_word(text, width - indent);
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (used > 0 && characters(line) + 1 + characters(word) > width) {
      end_line();
      used = 0;
    }
    if (used > 0) line += ' ';
    // A word that is longer than a line goes on in the next.
    for (const char each : word) {
      if ((each & '\xC0') != '\x80' && characters(line) >= width) end_line();
      line += each;
    }
    used += characters(word) + 1;
  }
  return out + line + "\n";
}

std::string two_decimals(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

}  // namespace cleave::app
