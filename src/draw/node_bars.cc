#include "draw/node_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/shown.h"
#include "draw/frame.h"
#include "draw/palette.h"

namespace cleave::draw {
namespace {

constexpr double kLegendHeight = 40;
constexpr double kNameWidth = 130;
constexpr double kTextWidth = 130;
constexpr double kRowHeightMax = 40;
constexpr std::size_t kNameLetters = 18;
constexpr std::size_t kNamedAtEachEnd = 3;

double largest(const NodeBars& bars) {
  double reach = 0;
  for (const NodeBar& each : bars.nodes) reach = std::max({reach, each.value, each.mark});
  return reach > 0 ? reach : 1;
}

void draw_row(Canvas& canvas, const Box& row, const NodeBar& node, double reach) {
  const double middle = row.y + row.height / 2;
  const Box track{row.x + kNameWidth, row.y + row.height * 0.18,
                  row.width - kNameWidth - kTextWidth, row.height * 0.64};
  canvas.fill(track, {kGrid.red, kGrid.green, kGrid.blue, 0.5});
  canvas.fill({track.x, track.y, track.width * node.value / reach, track.height}, node.colour);
  const double x = track.x + track.width * node.mark / reach;
  canvas.line(std::array{Point{x, track.y - 2}, Point{x, track.bottom() + 2}},
              {.colour = kInk, .width = 2});
  canvas.text({track.x - 8, middle + 4}, shortened(node.name, kNameLetters),
              {.size = 12, .colour = kInk, .anchor = Anchor::kEnd});
}

void draw_rows(Canvas& canvas, const Box& box, const NodeBars& bars) {
  const double reach = largest(bars);
  const double height = box.height / static_cast<double>(bars.nodes.size());
  Box row{box.x, box.y, box.width, height};
  for (const NodeBar& node : bars.nodes) {
    draw_row(canvas, row, node, reach);
    canvas.text({row.right() - kTextWidth + 10, row.y + row.height / 2 + 4},
                amount_text(node.value, bars.unit) + " / " + amount_text(node.mark, bars.unit),
                {.size = 12, .colour = kInk});
    row.y += height;
  }
}

double ratio(const NodeBar& node) { return node.mark > 0 ? node.value / node.mark : 0; }

// The three at each end, one below the other, where the bars leave room.
void name_the_ends(Canvas& canvas, const Box& box, const std::vector<NodeBar>& sorted) {
  const auto text_of = [](const NodeBar& node) {
    return fmt::format("{}: {:.2f}", shortened(node.name, kNameLetters), ratio(node));
  };
  for (std::size_t i = 0; i < kNamedAtEachEnd; ++i) {
    const double y = box.y + 14 + 16 * static_cast<double>(i);
    canvas.text({box.x + box.width * 0.4, y}, text_of(sorted[i]),
                {.size = 11, .colour = kInk, .anchor = Anchor::kMiddle});
    canvas.text({box.right() - 4, y}, text_of(sorted[sorted.size() - 1 - i]),
                {.size = 11, .colour = kInk, .anchor = Anchor::kEnd});
  }
  canvas.text({box.x + box.width * 0.4, box.y - 2}, "highest",
              {.size = 11, .colour = kFaint, .anchor = Anchor::kMiddle});
  canvas.text({box.right() - 4, box.y - 2}, "lowest",
              {.size = 11, .colour = kFaint, .anchor = Anchor::kEnd});
}

void draw_ranks(Canvas& canvas, const Box& box, const NodeBars& bars) {
  std::vector<NodeBar> sorted = bars.nodes;
  std::ranges::stable_sort(sorted, std::ranges::greater(), ratio);
  // A third above the highest bar for the names.
  const double reach = std::max(1.0, ratio(sorted.front())) * 1.35;
  const Axis across{
      .from = 0,
      .to = static_cast<double>(sorted.size()),
      .name = fmt::format("{} nodes, from the highest to the lowest", grouped(sorted.size()))};
  Frame frame(canvas, {box.x + 60, box.y, box.width - 60, box.height - 46}, across,
              amount_axis(0, reach, bars.value_name + " / " + bars.mark_name));
  frame.draw_grid();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Point top = frame.at(static_cast<double>(i), ratio(sorted[i]));
    const Point base = frame.at(static_cast<double>(i) + 1, 0);
    canvas.fill({top.x, top.y, base.x - top.x, base.y - top.y}, sorted[i].colour);
  }
  const Point left = frame.at(0, 1);
  const Point right = frame.at(across.to, 1);
  canvas.line(std::array{left, right}, {.colour = kInk, .width = 2});
  frame.draw_axes();
  name_the_ends(canvas, frame.box(), sorted);
}

void draw_key(Canvas& canvas, const Box& box, const NodeBars& bars) {
  const Font font{.size = 12, .colour = kInk};
  canvas.fill({box.x, box.y + 6, 26, 10}, kFaint);
  canvas.text({box.x + 34, box.y + 15}, bars.value_name, font);
  const double x = box.x + 150;
  if (bars.nodes.size() <= kRowsMax) {
    canvas.line(std::array{Point{x, box.y + 3}, Point{x, box.y + 19}},
                {.colour = kInk, .width = 2});
  } else {
    canvas.line(std::array{Point{x - 18, box.y + 11}, Point{x + 4, box.y + 11}},
                {.colour = kInk, .width = 2});
  }
  canvas.text({x + 12, box.y + 15}, bars.mark_name, font);
}

}  // namespace

std::string amount_text(double amount, BarUnit unit) {
  if (unit == BarUnit::kKeys) return grouped(static_cast<std::uint64_t>(std::llround(amount)));
  return fmt::format("{:.1f} %", 100 * amount);
}

void draw_node_bars(Canvas& canvas, const Box& box, const NodeBars& bars) {
  Box data{box.x, box.y, box.width, box.height - kLegendHeight};
  if (bars.nodes.size() <= kRowsMax) {
    // A few rows stand in the middle.
    const double height =
        std::min(data.height, kRowHeightMax * static_cast<double>(bars.nodes.size()));
    data.y += (data.height - height) / 2;
    data.height = height;
    draw_rows(canvas, data, bars);
  } else {
    draw_ranks(canvas, data, bars);
  }
  draw_key(canvas, {box.x + kNameWidth, data.bottom() + 12, box.width, kLegendHeight}, bars);
}

}  // namespace cleave::draw
