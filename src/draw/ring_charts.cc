#include "draw/ring_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/shown.h"
#include "draw/frame.h"
#include "draw/palette.h"

namespace cleave::draw {
namespace {

constexpr Point kCentre{252, 316};
constexpr double kOuter = 216;
constexpr double kArcsInner = 180;
constexpr double kSumsOuter = 172;
constexpr double kSumsInner = 96;
constexpr Box kBars{500, 84, 484, 460};
constexpr Box kWideBars{40, 84, 930, 460};

double turns(Token token) { return std::ldexp(static_cast<double>(token.value()), -64); }

Point on_ring(double radius, double turn) {
  const double angle = turn * 2 * std::numbers::pi;
  return {kCentre.x + radius * std::sin(angle), kCentre.y - radius * std::cos(angle)};
}

Sector arc_sector(const ring::TokenRange& range) {
  // The end is the start of the next one: 2^64 for the last.
  const double to = range.last == ring::kLastToken ? 1 : turns(Token{range.last.value() + 1});
  return {kCentre, kArcsInner, kOuter, turns(range.first), to};
}

std::string hint_of(const std::string& name, double share) {
  return fmt::format("{}: {:.3g} %", name, 100 * share);
}

void draw_label(Canvas& canvas, const Sector& sector, const std::string& text, Colour ground) {
  const Point middle = on_ring((sector.inner + sector.outer) / 2, (sector.from + sector.to) / 2);
  canvas.text({middle.x, middle.y + 4}, text,
              {.size = 11, .colour = text_on(ground), .anchor = Anchor::kMiddle});
}

// How many letters of a name fit into a piece; 0: none. A label that stays within its piece meets
// no other. Texts lie level: seen from the piece, which is turned, a text takes part of its width
// along the ring and the rest across.
std::size_t label_letters(const Sector& sector, std::size_t wanted) {
  constexpr double kLetter = 6.4;  // wide, of the label's font
  constexpr double kLine = 12;     // high
  constexpr std::size_t kMost = 10;
  constexpr std::size_t kLeast = 3;  // fewer tell no two names apart
  const double middle = (sector.from + sector.to) / 2 * 2 * std::numbers::pi;
  const double along = std::abs(std::cos(middle));
  const double across = std::abs(std::sin(middle));
  const double length =
      (sector.to - sector.from) * 2 * std::numbers::pi * (sector.inner + sector.outer) / 2;
  const double thickness = sector.outer - sector.inner;
  for (std::size_t letters = std::min(wanted, kMost); letters > 0; --letters) {
    if (letters < std::min(wanted, kLeast)) return 0;
    const double width = kLetter * static_cast<double>(letters);
    if (width * along + kLine * across <= length && width * across + kLine * along <= thickness) {
      return letters;
    }
  }
  return 0;
}

// What all names begin with, in bytes; 0 where that is too little to be worth leaving out.
std::size_t common_start(const std::vector<std::string>& names) {
  constexpr std::size_t kLeast = 4;
  if (names.size() < 2) return 0;
  std::size_t size = names.front().size();
  for (const std::string& name : names) {
    const auto differ = std::ranges::mismatch(names.front(), name);
    size = std::min(size, static_cast<std::size_t>(differ.in1 - names.front().begin()));
  }
  // Not within a character.
  const auto is_within = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
  };
  while (size > 0 && size < names.front().size() && is_within(names.front()[size])) --size;
  return size < kLeast ? 0 : size;
}

// A name in so many letters: whole, or what it does not share with all others, or of that the ends.
std::string label_of(const std::string& name, std::size_t letters, std::size_t common) {
  if (characters(name) <= letters || common == 0) return shortened(name, letters);
  return shortened("…" + name.substr(common), letters);
}

// Empty where the piece has no room for letters that tell the node from all others.
std::string label_for(const std::vector<std::string>& names, std::size_t node, const Sector& sector,
                      std::size_t common) {
  const std::size_t letters = label_letters(sector, characters(names[node]));
  if (letters == 0) return "";
  const std::string label = label_of(names[node], letters, common);
  for (std::size_t other = 0; other < names.size(); ++other) {
    if (other != node && label_of(names[other], letters, common) == label) return "";
  }
  return label;
}

// One piece for each node that has a share, in their order; returns where the last one ends.
double draw_sums(Canvas& canvas, const std::vector<std::string>& names,
                 const std::vector<double>& shares) {
  double from = 0;
  std::vector<double> ends{from};
  const std::size_t common = common_start(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (shares[i] <= 0) continue;
    const Sector sector{kCentre, kSumsInner, kSumsOuter, from, std::min(1.0, from + shares[i])};
    canvas.sector(sector, node_colour(i), hint_of(names[i], shares[i]));
    const std::string label = label_for(names, i, sector, common);
    if (!label.empty()) draw_label(canvas, sector, label, node_colour(i));
    from += shares[i];
    ends.push_back(from);
  }
  // A gap, for eyes that see two neighbours alike; among very many nodes it would be all they see.
  if (ends.size() > kRowsMax) return from;
  for (const double end : ends) {
    canvas.line(std::array{on_ring(kSumsInner, end), on_ring(kSumsOuter, end)},
                {.colour = kPaper, .width = 1.5});
  }
  return from;
}

void draw_middle(Canvas& canvas, const std::string& large, const std::string& below,
                 const std::string& last) {
  canvas.text({kCentre.x, kCentre.y - 4}, large,
              {.size = 26, .colour = kInk, .anchor = Anchor::kMiddle, .weight = Weight::kBold});
  canvas.text({kCentre.x, kCentre.y + 18}, below,
              {.size = 12, .colour = kFaint, .anchor = Anchor::kMiddle});
  canvas.text({kCentre.x, kCentre.y + 36}, last,
              {.size = 12, .colour = kFaint, .anchor = Anchor::kMiddle});
}

std::vector<std::string> names_of(const std::vector<NodeAmount>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeAmount& each : nodes) names.push_back(each.name);
  return names;
}

std::vector<NodeBar> bars_of(const std::vector<NodeAmount>& nodes) {
  std::vector<NodeBar> bars;
  bars.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bars.push_back({nodes[i].name, nodes[i].amount, nodes[i].compared, node_colour(i)});
  }
  return bars;
}

// Those whose amount changes most, in their order.
std::vector<NodeBar> most_changed(const std::vector<NodeAmount>& nodes) {
  std::vector<NodeBar> bars = bars_of(nodes);
  if (bars.size() <= kRowsMax) return bars;
  std::vector<std::size_t> order(bars.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return std::abs(bars[i].value - bars[i].mark); });
  order.resize(kRowsMax);
  std::ranges::sort(order);
  std::vector<NodeBar> chosen;
  chosen.reserve(order.size());
  for (const std::size_t i : order) chosen.push_back(std::move(bars[i]));
  return chosen;
}

// What the circles show of these arcs.
std::string arcs_text(const std::string& of_arcs, const std::string& of_sums, std::size_t arcs) {
  if (arcs <= kArcsDrawnMax) return of_arcs;
  return of_sums + fmt::format("; {} arcs are too fine to draw", grouped(arcs));
}

std::string diff_text(const RingDiffChart& chart) {
  const std::string sums = "What comes to each node, in its colour; grey stays";
  std::string text = sums + fmt::format("; by {} keys", grouped(chart.keys));
  if (chart.keys == 0) {
    text = arcs_text(
        "Clockwise from the top: what comes to each node, in its colour; grey stays. "
        "Inside the sums",
        sums, chart.changes.size());
  }
  if (chart.nodes.size() <= kRowsMax) return text;
  return text + fmt::format(". Bars: the {} nodes that change most", kRowsMax);
}

}  // namespace

void draw_ownership(Canvas& canvas, const OwnershipChart& chart) {
  draw_caption(canvas, chart.title,
               arcs_text("All tokens, clockwise from the top. Outside the arcs, inside their sums",
                         "What each node owns of all tokens", chart.arcs.size()));
  const std::vector<std::string> names = names_of(chart.nodes);
  if (chart.arcs.size() <= kArcsDrawnMax) {
    for (const ring::Arc& arc : chart.arcs) {
      const std::size_t node = arc.node.value() - 1;
      canvas.sector(arc_sector(arc.range), node_colour(node),
                    names[node] + ": " + to_string(arc.range));
    }
  }
  std::vector<double> shares;
  shares.reserve(chart.nodes.size());
  for (const NodeAmount& each : chart.nodes) shares.push_back(each.amount);
  draw_sums(canvas, names, shares);
  draw_middle(canvas, fmt::format("{:.2f}", chart.peak), "highest owned / wanted",
              fmt::format("{} nodes, {} arcs", grouped(names.size()), grouped(chart.arcs.size())));
  draw_node_bars(canvas, kBars,
                 {.nodes = bars_of(chart.nodes),
                  .unit = BarUnit::kShare,
                  .value_name = "owned",
                  .mark_name = "wanted by weight"});
}

void draw_ring_diff(Canvas& canvas, const RingDiffChart& chart) {
  draw_caption(canvas, chart.title, diff_text(chart));
  const std::vector<std::string> names = names_of(chart.nodes);
  if (!chart.changes.empty() && chart.changes.size() <= kArcsDrawnMax) {
    canvas.sector({kCentre, kArcsInner, kOuter, 0, 1}, kGrid, "");
    for (const ring::Change& each : chart.changes) {
      const std::size_t to = each.to.value() - 1;
      canvas.sector(
          arc_sector(each.range), node_colour(to),
          names[each.from.value() - 1] + " to " + names[to] + ": " + to_string(each.range));
    }
  }
  const double moved = draw_sums(canvas, names, chart.gained);
  if (moved < 1) canvas.sector({kCentre, kSumsInner, kSumsOuter, moved, 1}, kGrid, "stays");
  draw_middle(canvas, fmt::format("{:.1f} %", 100 * moved), "changes owner,",
              fmt::format("at least {:.1f} % has to", 100 * chart.least));
  draw_node_bars(canvas, kBars,
                 {.nodes = most_changed(chart.nodes),
                  .unit = BarUnit::kShare,
                  .value_name = "after",
                  .mark_name = "before"});
}

void draw_spread(Canvas& canvas, const SpreadChart& chart) {
  draw_caption(canvas, chart.title, chart.subtitle);
  draw_node_bars(canvas, kWideBars,
                 {.nodes = bars_of(chart.nodes),
                  .unit = BarUnit::kKeys,
                  .value_name = "keys",
                  .mark_name = "expected by weight"});
}

}  // namespace cleave::draw
