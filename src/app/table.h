// Text for people: aligned tables and bars.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::app {

// Columns as wide as their widest cell; the first left-aligned, numbers right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "████▌": `part` of `whole` in a field of `width` characters, to an eighth of one.
std::string bar(std::uint64_t part, std::uint64_t whole, std::uint32_t width);

// Millionths as per cent: 253'000 -> "25.3 %".
std::string percent(std::uint64_t ppm);

// 1.0461 -> "1.05".
std::string two_decimals(double number);

// "1234567" -> "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cleave::app
