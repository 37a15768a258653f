// Frame: the axes of a chart, and what stands around them: title, ticks, legend.
//
// Threads: one owner.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "draw/canvas.h"

namespace cleave::draw {

// Every picture has this size and this arrangement: the legend stands right of the plot.
inline constexpr double kWidth = 1'000;
inline constexpr double kHeight = 560;
inline constexpr Box kPlot{72, 76, 724, 424};
inline constexpr Point kLegend{816, 84};

// A mark on an axis.
struct Tick {
  double at = 0;
  std::string label = {};
};

// One side of the frame.
struct Axis {
  double from = 0;
  double to = 1;     // above `from`
  std::string name;  // with its unit
  std::vector<Tick> ticks = {};
};

// From 0 to the end, with ticks in whole seconds, minutes, hours or days.
Axis time_axis(seconds end);

// From `from` to a round number not below `reach`, with about five ticks. Requires: from < reach.
Axis amount_axis(double from, double reach, std::string name);

class Frame {
 public:
  // `box` is where the axes meet the data.
  Frame(Canvas& canvas, const Box& box, Axis across, Axis up)
      : canvas_(canvas), box_(box), across_(std::move(across)), up_(std::move(up)) {}

  // Where a value lies; what is outside of an axis lies at its end.
  Point at(double across, double up) const;

  void draw_grid();  // to be drawn before the data
  void draw_axes();  // and after
  const Box& box() const { return box_; }

 private:
  Canvas& canvas_;
  Box box_;
  Axis across_;
  Axis up_;
};

// White, with a bold title and a line that says what the picture shows.
void draw_caption(Canvas& canvas, std::string_view title, std::string_view subtitle);

// One line of a legend.
struct LegendEntry {
  enum class Mark : std::uint8_t { kLine, kBar, kDisc };
  Mark mark = Mark::kLine;
  Stroke stroke = {};
  std::string text = {};  // two lines where it has a line feed
};

// Returns where the next thing below it may begin.
Point draw_legend(Canvas& canvas, Point at, std::span<const LegendEntry> entries);

// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cleave::draw
