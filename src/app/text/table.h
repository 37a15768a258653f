// Text for people: aligned tables and bars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::app {

// Columns as wide as their widest cell; the first left-aligned, numbers right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // A sentence below the last row, wrapped to the terminal's width.
  void note(std::string sentence) { notes_.emplace(rows_.size() - 1, std::move(sentence)); }
  std::string text() const;
  // Without the head.
  std::size_t rows() const { return rows_.size() - 1; }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::multimap<std::size_t, std::string> notes_;  // by row
};

// "████▌": `part` of `whole` in a field of `width` characters, to an eighth of one.
std::string bar(std::uint64_t part, std::uint64_t whole, std::uint32_t width);

// Millionths as per cent: 253'000 -> "25.3 %".
std::string percent(std::uint64_t ppm);

// 1.0461 -> "1.05".
std::string two_decimals(double number);

// "1234567" -> "1,234,567".
std::string grouped(std::uint64_t number);

// 12'345 -> "12.3k": at most five characters.
std::string compact(std::uint64_t number);

// Lines of at most `width` characters, each with its end; all but the first begin with `indent`
// blanks. Requires: indent < width.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// What fits the narrowest terminal.
inline constexpr std::size_t kTerminalWidth = 80;

}  // namespace cleave::app
