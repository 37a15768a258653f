#include "control/orders/stray_count.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/ppm.h"
#include "base/shown.h"
#include "base/wide.h"
#include "ring/view/stray.h"

namespace cleave::control {
namespace {

std::uint64_t square_root(std::uint64_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31U; bit != 0; bit >>= 1U) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// 2'400 ppm -> "0.24 %".
std::string percent(std::uint32_t ppm) {
  const std::string hundredths = std::to_string(100 + ppm / 100 % 100).substr(1);
  return std::to_string(ppm / 10'000) + "." + hundredths + " %";
}

}  // namespace

std::uint32_t StrayCount::share_ppm() const {
  CHECK(strays <= keys);
  return keys == 0 ? 0 : static_cast<std::uint32_t>(Wide{strays} * kMillion / keys);
}

std::uint32_t StrayCount::error_ppm() const {
  if (whole || keys == 0) return 0;
  const std::uint64_t none = std::min(kMillion, 3 * kMillion / keys);
  const std::uint64_t share = share_ppm();
  CHECK(share <= kMillion);
  const std::uint64_t error = 2 * square_root(share * (kMillion - share) / keys);
  return static_cast<std::uint32_t>(std::max(error, none));
}

std::uint64_t StrayCount::estimate(std::uint64_t all_keys) const {
  if (whole || keys == 0 || all_keys <= keys) return strays;
  return static_cast<std::uint64_t>(Wide{strays} * all_keys / keys);
}

void StrayCounter::add(std::string_view key, const ring::RingView& before,
                       const ring::RingView& now) {
  ++count_.keys;
  const Token token = now.token_of(key);
  if (!ring::is_stray(now, node_, token) || !ring::is_stray(before, node_, token)) return;
  if (met_.size() < kRemembered && !met_.insert(xxh3_64(key)).second) {
    --count_.keys;
    return;
  }
  ++count_.strays;
  CHECK(count_.strays <= count_.keys);
  if (count_.examples.size() < listed_max_)
    count_.examples.push_back({.key = std::string(key), .owner = now.owner(token)});
}

std::string describe(const StrayCount& count) {
  const std::string share = percent(count.share_ppm());
  if (count.whole)
    return grouped(count.strays) + " of " + grouped(count.keys) + " keys (" + share + ")";
  return grouped(count.strays) + " of " + grouped(count.keys) + " keys that were looked at (" +
         share + " +- " + percent(count.error_ppm()) + ")";
}

std::string quoted_key(std::string_view key) {
  constexpr std::size_t kCharactersMax = 64;
  return "\"" + shortened(shown(key), kCharactersMax) + "\"";
}

std::string examples_of(const StrayCount& count, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < count.examples.size() && i < most; ++i)
    text += (i == 0 ? ", e.g. " : ", ") + quoted_key(count.examples[i].key);
  return text;
}

}  // namespace cleave::control
