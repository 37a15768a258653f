#include "ring/schemes/circle.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::ring {
namespace {

// The points of one value.
struct Place {
  std::uint64_t value;
  std::uint32_t first_put;
  std::uint32_t last_put;
};

// Goes through sorted points, one value after another.
class PlaceReader {
 public:
  explicit PlaceReader(std::span<const CirclePoint> points) : points_(points) {}

  bool at_end() const { return points_.empty(); }

  Place next() {
    CHECK(!points_.empty());
    const CirclePoint& first = points_.front();
    std::size_t count = 1;
    while (count < points_.size() && points_[count].value == first.value) ++count;
    const Place place{first.value, first.node, points_[count - 1].node};
    points_ = points_.subspan(count);
    return place;
  }

 private:
  std::span<const CirclePoint> points_;
};

ArcTable upward_arcs(std::span<const CirclePoint> points, const CircleRules& rules) {
  const auto owner = [&](const Place& place) {
    return rules.tie == CircleRules::Tie::kFirstPut ? place.first_put : place.last_put;
  };
  ArcWriter writer(points.size() + 1);
  for (PlaceReader places(points); !places.at_end();) {
    const Place place = places.next();
    if (rules.pick == CircleRules::Pick::kAtOrAbove) {
      writer.until(last_token(place.value, rules.width), owner(place));
    } else if (place.value > 0) {
      writer.until(last_token(place.value - 1, rules.width), owner(place));
    }
  }
  writer.until(kLastToken.value(), owner(PlaceReader(points).next()));
  return writer.take();
}

// Between two neighbours p < q, values up to p + (q - p) / 2 are nearer to p, or equally near.
ArcTable nearest_arcs(std::span<const CirclePoint> points) {
  constexpr std::uint64_t kValues = std::uint64_t{1} << 32U;
  constexpr auto kWidth = CircleRules::Width::k32;
  const Place front = PlaceReader(points).next();
  const CirclePoint& back = points.back();  // put last of its value
  // The gap that wraps: from the last point over 2^32 to the first.
  const std::uint64_t wrapping = back.value + (front.value + kValues - back.value) / 2;
  ArcWriter writer(points.size() + 2);  // more only for points of one value
  if (wrapping >= kValues) writer.until(last_token(wrapping - kValues, kWidth), back.node);
  writer.until(last_token(front.value, kWidth), front.first_put);
  Place below = front;
  for (PlaceReader places(points); !places.at_end();) {
    const Place place = places.next();
    const std::uint64_t half = below.value + (place.value - below.value) / 2;
    writer.until(last_token(half, kWidth), below.last_put);
    writer.until(last_token(place.value, kWidth), place.first_put);
    below = place;
  }
  writer.until(last_token(std::min(wrapping, kValues - 1), kWidth), back.node);
  writer.until(kLastToken.value(), front.first_put);
  return writer.take();
}

}  // namespace

ArcTable circle_arcs(std::span<const CirclePoint> points, const CircleRules& rules) {
  if (points.empty()) return {};
  CHECK(std::ranges::is_sorted(points, {}, &CirclePoint::value));
  CHECK(rules.pick != CircleRules::Pick::kNearest || rules.width == CircleRules::Width::k32);
  return rules.pick == CircleRules::Pick::kNearest ? nearest_arcs(points)
                                                   : upward_arcs(points, rules);
}

ArcTable table_arcs(std::span<const std::uint32_t> table) {
  ArcWriter writer(table.size());
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    writer.until(segment_token({i + 1, table.size()}).value() - 1, table[i]);
  }
  if (!table.empty()) writer.until(kLastToken.value(), table.back());
  return writer.take();
}

ArcTable node_segments(std::size_t nodes) {
  std::vector<std::uint32_t> table(nodes);
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = i;
  return table_arcs(table);
}

Token segment_token(const Segment& segment) {
  CHECK(segment.index < segment.count);
  return Token{static_cast<std::uint64_t>((Wide{segment.index} << 64U) / segment.count)};
}

Token segment_token(const Segment& segment, std::uint64_t hash) {
  const std::uint64_t first = segment_token(segment).value();
  // One segment is all tokens: its width does not fit, but wraps to the right product.
  if (segment.count == 1) return Token{hash};
  const std::uint64_t next = segment.index + 1 == segment.count
                                 ? 0
                                 : segment_token({segment.index + 1, segment.count}).value();
  return Token{first + static_cast<std::uint64_t>(Wide{next - first} * hash >> 64U)};
}

}  // namespace cleave::ring
