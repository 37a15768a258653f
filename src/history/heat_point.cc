#include "history/heat_point.h"

#include <algorithm>
#include <array>

#include "base/wide.h"
#include "ring/width.h"

namespace cleave::history {
namespace {

constexpr unsigned kStripShift = 58;

std::uint32_t strip_of(Token token) {
  return static_cast<std::uint32_t>(token.value() >> kStripShift);
}

ring::TokenRange range_of(std::uint32_t strip) {
  const std::uint64_t first = std::uint64_t{strip} << kStripShift;
  return {Token{first}, Token{first + ((std::uint64_t{1} << kStripShift) - 1)}};
}

// Adds the range's part that lies in a strip: `part` of `whole`.
void add(HeatValue& value, const heat::RangeLoad& range, Wide part, Wide whole) {
  // Widths may need 65 bits; nothing that people see is lost with the last 8.
  const auto share = [&](std::uint64_t amount) {
    return static_cast<std::uint64_t>(Wide{amount} * (part >> 8U) / std::max(whole >> 8U, Wide{1}));
  };
  value.load += share(range.load.mean);
  value.requests += share(range.requests);
  value.writes += share(range.writes);
}

std::vector<HeatValue> with_load(const std::array<HeatValue, kStrips>& strips) {
  std::vector<HeatValue> result;
  for (const HeatValue& each : strips) {
    if (each.load > 0 || each.requests > 0) result.push_back(each);
  }
  return result;
}

}  // namespace

HeatPoint point_of(const heat::Picture& picture, UnixMillis at) {
  HeatPoint point{.at = at, .covers = milliseconds{10'000}};
  for (const heat::NodeLoad& each : picture.nodes) {
    if (each.load.mean == 0 && each.requests == 0) continue;
    point.nodes.push_back({each.node.value(), each.load.mean, each.requests, each.writes});
  }
  std::array<HeatValue, kStrips> strips{};
  for (std::uint32_t strip = 0; strip < kStrips; ++strip) strips[strip].id = strip;
  auto token = picture.tokens.begin();
  for (const heat::RangeLoad& range : picture.ranges) {
    const auto first = token;
    std::uint64_t sampled = 0;
    for (; token != picture.tokens.end() && token->token <= range.range.last; ++token) {
      sampled += token->load;
    }
    if (sampled > 0) {
      // Shifted so that `add` may drop bits from a small sum too.
      for (auto each = first; each != token; ++each) {
        add(strips[strip_of(each->token)], range, Wide{each->load} << 16U, Wide{sampled} << 16U);
      }
      continue;
    }
    for (std::uint32_t strip = strip_of(range.range.first); strip <= strip_of(range.range.last);
         ++strip) {
      const ring::TokenRange whole = range_of(strip);
      const ring::TokenRange inside{std::max(whole.first, range.range.first),
                                    std::min(whole.last, range.range.last)};
      add(strips[strip], range, ring::width(inside) << 8U, ring::width(range.range) << 8U);
    }
  }
  point.strips = with_load(strips);
  return point;
}

}  // namespace cleave::history
