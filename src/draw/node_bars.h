// Bars of nodes: for each a value beside a mark that it is compared with.
//
// Up to kRowsMax nodes are rows with their names. More are thin bars from the highest ratio to the
// lowest, of which only the ends are named.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/canvas.h"

namespace cleave::draw {

inline constexpr std::size_t kRowsMax = 20;

// A row of the chart.
struct NodeBar {
  std::string name;
  double value = 0;
  double mark = 0;
  Colour colour = {};
};

// What the bars' length stands for.
enum class BarUnit : std::uint8_t {
  kShare,  // 0 ... 1, written as per cent
  kKeys,
};

// Bars and what they mean, for the legend and the axis.
struct NodeBars {
  std::vector<NodeBar> nodes = {};
  BarUnit unit = BarUnit::kShare;
  std::string value_name = {};  // "owned"
  std::string mark_name = {};   // "wanted by weight"
};

// 0.1234 -> "12.3 %"; 1234 keys -> "1,234".
std::string amount_text(double amount, BarUnit unit);

// Requires: a node.
void draw_node_bars(Canvas& canvas, const Box& box, const NodeBars& bars);

}  // namespace cleave::draw
