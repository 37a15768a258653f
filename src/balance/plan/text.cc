#include "balance/plan/text.h"

#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/shown.h"
#include "base/wide.h"

namespace cleave::balance {
namespace {

// Rounded to `digits` places after the point, which is at most 2.
std::string decimal(Wide thousandths, unsigned digits) {
  CHECK(digits <= 2);
  const Wide step = digits == 2 ? 10 : digits == 1 ? 100 : 1'000;
  const Wide rounded = (thousandths + step / 2) / step;
  const Wide unit = 1'000 / step;
  std::string text = std::to_string(static_cast<std::uint64_t>(rounded / unit));
  if (digits == 0) return text;
  std::string fraction = std::to_string(static_cast<std::uint64_t>(rounded % unit));
  while (fraction.size() < digits) fraction.insert(0, 1, '0');
  return text + "." + fraction;
}

}  // namespace

std::string times(std::uint32_t ppm) { return decimal(Wide{ppm} / 1'000, 2) + "x"; }

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const Wide thousandths = whole == 0 ? Wide{0} : Wide{part} * 100'000 / whole;
  return decimal(thousandths, 1) + " %";
}

std::string load_text(std::uint64_t load) { return decimal(Wide{load} / 1'000, 1) + " ms/s"; }

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string quoted(std::string_view key) { return "'" + shown(key) + "'"; }

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1'000) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  Wide thousandths = bytes;
  while (thousandths >= 1'000'000 && unit + 1 < kUnits.size()) {
    thousandths /= 1'000;
    ++unit;
  }
  return decimal(thousandths, 1) + " " + kUnits[unit];
}

}  // namespace cleave::balance
