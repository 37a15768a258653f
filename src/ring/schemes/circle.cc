#include "ring/schemes/circle.h"

#include <algorithm>

#include "base/wide.h"

namespace cleave::ring {
namespace {

// Lays arcs one after another, from token 0 on.
class ArcWriter {
 public:
  explicit ArcWriter(std::size_t expected) { arcs_.reserve(expected); }

  // Everything up to and with `last` that is not laid yet belongs to `node`.
  void until(std::uint64_t last, std::uint32_t node) {
    if (done_ || last < next_) return;
    const NodeId id{node + 1};
    if (!arcs_.empty() && arcs_.back().node == id) {
      arcs_.back().range.last = Token{last};
    } else {
      arcs_.push_back({{Token{next_}, Token{last}}, id});
    }
    done_ = last == kLastToken.value();
    next_ = last + 1;
  }

  std::vector<Arc> take() { return std::move(arcs_); }

 private:
  std::vector<Arc> arcs_;
  std::uint64_t next_ = 0;
  bool done_ = false;
};

// The points of one value.
struct Place {
  std::uint64_t value;
  std::uint32_t first_put;
  std::uint32_t last_put;
};

std::vector<Place> places_of(std::vector<CirclePoint> points) {
  std::ranges::stable_sort(points, {}, &CirclePoint::value);
  std::vector<Place> places;
  places.reserve(points.size());
  for (const CirclePoint& point : points) {
    if (!places.empty() && places.back().value == point.value) {
      places.back().last_put = point.node;
    } else {
      places.push_back({point.value, point.node, point.node});
    }
  }
  return places;
}

// The last token of a value of the width.
std::uint64_t last_token(std::uint64_t value, CircleRules::Width width) {
  return width == CircleRules::Width::k32 ? value << 32U | 0xFFFFFFFFU : value;
}

std::vector<Arc> upward_arcs(const std::vector<Place>& places, const CircleRules& rules) {
  const auto owner = [&](const Place& place) {
    return rules.tie == CircleRules::Tie::kFirstPut ? place.first_put : place.last_put;
  };
  ArcWriter writer(places.size() + 1);
  for (const Place& place : places) {
    if (rules.pick == CircleRules::Pick::kAtOrAbove) {
      writer.until(last_token(place.value, rules.width), owner(place));
    } else if (place.value > 0) {
      writer.until(last_token(place.value - 1, rules.width), owner(place));
    }
  }
  writer.until(kLastToken.value(), owner(places.front()));
  return writer.take();
}

// Between two neighbours p < q, values up to p + (q - p) / 2 are nearer to p, or equally near.
std::vector<Arc> nearest_arcs(const std::vector<Place>& places) {
  constexpr std::uint64_t kValues = std::uint64_t{1} << 32U;
  constexpr auto kWidth = CircleRules::Width::k32;
  const Place& front = places.front();
  const Place& back = places.back();
  // The gap that wraps: from the last point over 2^32 to the first.
  const std::uint64_t wrapping = back.value + (front.value + kValues - back.value) / 2;
  ArcWriter writer(2 * places.size() + 2);
  if (wrapping >= kValues) writer.until(last_token(wrapping - kValues, kWidth), back.last_put);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    writer.until(last_token(place.value, kWidth), place.first_put);
    if (i + 1 == places.size()) break;
    const std::uint64_t half = place.value + (places[i + 1].value - place.value) / 2;
    writer.until(last_token(half, kWidth), place.last_put);
  }
  writer.until(last_token(std::min(wrapping, kValues - 1), kWidth), back.last_put);
  writer.until(kLastToken.value(), front.first_put);
  return writer.take();
}

}  // namespace

std::vector<Arc> circle_arcs(std::vector<CirclePoint> points, const CircleRules& rules) {
  if (points.empty()) return {};
  const std::vector<Place> places = places_of(std::move(points));
  return rules.pick == CircleRules::Pick::kNearest ? nearest_arcs(places)
                                                   : upward_arcs(places, rules);
}

std::vector<Arc> table_arcs(std::span<const std::uint32_t> table) {
  ArcWriter writer(table.size());
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    writer.until(segment_token({i + 1, table.size()}).value() - 1, table[i]);
  }
  if (!table.empty()) writer.until(kLastToken.value(), table.back());
  return writer.take();
}

std::vector<Arc> node_segments(std::size_t nodes) {
  std::vector<std::uint32_t> table(nodes);
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = i;
  return table_arcs(table);
}

Token segment_token(const Segment& segment) {
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
