#include "heat/series.h"

#include <algorithm>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::heat {
namespace {

// 2^-(1/2), 2^-(1/4), ... in 1 / 2^32: the bits of an exponent's fraction, highest first.
constexpr std::array<std::uint64_t, 16> kRoots{
    3'037'000'500, 3'611'622'603, 3'938'502'376, 4'112'874'773, 4'202'935'003, 4'248'701'965,
    4'271'771'996, 4'283'353'945, 4'289'156'690, 4'292'061'010, 4'293'513'907, 4'294'240'540,
    4'294'603'903, 4'294'785'595, 4'294'876'445, 4'294'921'870};

}  // namespace

std::uint64_t part_of(std::uint64_t value, Fraction fraction) {
  CHECK(fraction <= kWhole);
  return static_cast<std::uint64_t>((Wide{value} * fraction) >> 32U);
}

Amounts part_of(const Amounts& amounts, Fraction fraction) {
  return {.requests = part_of(amounts.requests, fraction),
          .writes = part_of(amounts.writes, fraction),
          .load = part_of(amounts.load, fraction)};
}

Fraction halved_for(nanoseconds elapsed, nanoseconds half_life) {
  CHECK(half_life.count() > 0 && elapsed.count() >= 0);
  const Wide halvings = (Wide{static_cast<std::uint64_t>(elapsed.count())} << 16U) /
                        static_cast<std::uint64_t>(half_life.count());
  const std::uint64_t whole = static_cast<std::uint64_t>(halvings >> 16U);
  if (whole >= 32) return 0;
  Fraction result = kWhole >> whole;
  for (std::size_t bit = 0; bit < kRoots.size(); ++bit) {
    if (((halvings >> (15U - bit)) & 1U) != 0) result = part_of(result, kRoots[bit]);
  }
  return result;
}

void Series::push(const Amounts& rate, nanoseconds elapsed) {
  CHECK(elapsed.count() > 0);
  CHECK(rate.writes <= rate.requests);
  std::ranges::copy_backward(ticks_.begin(), ticks_.end() - 1, ticks_.end());
  ticks_[0] = rate;
  valid_ = std::min(valid_ + 1, static_cast<std::uint32_t>(kTicks));
  pushes_ = std::min(pushes_ + 1, 1'000'000U);
  const Fraction plain_mean = kWhole - kWhole / pushes_;
  const Fraction keep = std::min(plain_mean, halved_for(elapsed, kSlowHalfLife));
  slow_ = part_of(slow_, keep) + part_of(rate.load, kWhole - keep);
  peaks_[0] = std::max(peaks_[0], mean().load);
}

void Series::next_window() {
  std::ranges::copy_backward(peaks_.begin(), peaks_.end() - 1, peaks_.end());
  peaks_[0] = mean().load;
}

Series Series::part(Fraction fraction) const {
  Series result = *this;
  for (Amounts& tick : result.ticks_) tick = part_of(tick, fraction);
  for (std::uint64_t& peak : result.peaks_) peak = part_of(peak, fraction);
  result.slow_ = part_of(slow_, fraction);
  return result;
}

Series& Series::operator+=(const Series& more) {
  for (std::size_t at = 0; at < kTicks; ++at) ticks_[at] += more.ticks_[at];
  for (std::size_t at = 0; at < kWindows; ++at) peaks_[at] += more.peaks_[at];
  slow_ += more.slow_;
  valid_ = std::max(valid_, more.valid_);
  pushes_ = std::max(pushes_, more.pushes_);
  return *this;
}

Load Series::load() const {
  return {.tick = ticks_[0].load,
          .mean = mean().load,
          .slow = slow_,
          .peak = *std::ranges::max_element(peaks_)};
}

Amounts Series::mean() const {
  CHECK(valid_ <= kTicks);
  Amounts sum;
  for (std::size_t at = 0; at < valid_; ++at) sum += ticks_[at];
  const std::uint64_t count = std::max(valid_, 1U);
  return {.requests = sum.requests / count, .writes = sum.writes / count, .load = sum.load / count};
}

}  // namespace cleave::heat
