#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "draw/charts.h"
#include "draw/frame.h"
#include "draw/palette.h"

namespace cleave::draw {
namespace {

constexpr double kPpmOfOne = 1'000'000;
constexpr double kHot = 1.5;  // of the fair use: balance::Constants::hot_ppm

// In per cent of the node's capacity.
double use_of(const rehearse::Record& record, std::size_t node, const rehearse::Moment& moment) {
  const auto capacity = static_cast<double>(record.nodes[node].capacity);
  return capacity > 0 ? 100 * static_cast<double>(moment.node_load[node]) / capacity : 0;
}

double highest_use(const rehearse::Record& record, const rehearse::Moment& moment) {
  double highest = 0;
  for (std::size_t node = 0; node < record.nodes.size(); ++node) {
    highest = std::max(highest, use_of(record, node, moment));
  }
  return highest;
}

// What each node would have were load spread by capacity. The record knows it from the peak.
double fair_use(const rehearse::Record& record, const rehearse::Moment& moment) {
  return moment.peak_ppm == 0 ? 0 : highest_use(record, moment) * kPpmOfOne / moment.peak_ppm;
}

// Nodes that were the highest once, by how high; the others are drawn without a name.
std::vector<std::size_t> outstanding(const rehearse::Record& record) {
  std::vector<std::pair<double, std::size_t>> most;
  for (std::size_t node = 0; node < record.nodes.size(); ++node) {
    double highest = 0;
    for (const rehearse::Moment& each : record.moments) {
      highest = std::max(highest, use_of(record, node, each));
    }
    most.emplace_back(-highest, node);
  }
  std::ranges::sort(most);
  std::vector<std::size_t> nodes;
  for (const auto& [use, node] : most) {
    if (nodes.size() < kSeries.size()) nodes.push_back(node);
  }
  return nodes;
}

// Broken where the node is not in the pool.
void draw_node(Canvas& canvas, const Frame& frame, const rehearse::Record& record, std::size_t node,
               const Stroke& stroke) {
  std::vector<Point> points;
  for (const rehearse::Moment& each : record.moments) {
    if (each.node_load[node] == 0) {
      canvas.line(points, stroke);
      points.clear();
      continue;
    }
    const auto at = static_cast<double>(each.at.count());
    points.push_back(frame.at(at, use_of(record, node, each)));
  }
  canvas.line(points, stroke);
}

}  // namespace

void draw_loads(Canvas& canvas, const rehearse::Record& record) {
  draw_caption(canvas, "Load of each node: " + run_title(record),
               "A node is hot from 1.5 times its fair share on; balanced, all lines lie on it.");
  double reach = 1;
  for (const rehearse::Moment& each : record.moments) {
    reach = std::max({reach, highest_use(record, each), kHot * fair_use(record, each)});
  }
  Frame frame(canvas, kPlot, time_axis(record.moments.back().at),
              amount_axis(0, reach, "server time in use (% of a node's capacity)"));
  frame.draw_grid();
  const std::vector<std::size_t> named = outstanding(record);
  const Stroke other{.colour = {120, 120, 120, 0.55}, .width = 1};
  for (std::size_t node = 0; node < record.nodes.size(); ++node) {
    if (std::ranges::find(named, node) != named.end()) continue;
    draw_node(canvas, frame, record, node, other);
  }
  std::vector<LegendEntry> legend;
  for (std::size_t rank = named.size(); rank > 0; --rank) {
    draw_node(canvas, frame, record, named[rank - 1], {.colour = kSeries[rank - 1], .width = 2});
  }
  for (std::size_t rank = 0; rank < named.size(); ++rank) {
    legend.push_back({.stroke = {.colour = kSeries[rank], .width = 2.5},
                      .text = record.nodes[named[rank]].name});
  }
  if (record.nodes.size() > named.size()) {
    const std::size_t others = record.nodes.size() - named.size();
    legend.push_back({.stroke = other, .text = fmt::format("{} other nodes", grouped(others))});
  }
  std::vector<Point> fair;
  std::vector<Point> hot;
  for (const rehearse::Moment& each : record.moments) {
    const auto at = static_cast<double>(each.at.count());
    fair.push_back(frame.at(at, fair_use(record, each)));
    hot.push_back(frame.at(at, kHot * fair_use(record, each)));
  }
  const Stroke fair_stroke{.colour = kInk, .width = 1.6};
  const Stroke hot_stroke{.colour = kInk, .width = 1.6, .dash = 6};
  canvas.line(fair, fair_stroke);
  canvas.line(hot, hot_stroke);
  legend.push_back({.stroke = fair_stroke, .text = "fair share"});
  legend.push_back({.stroke = hot_stroke, .text = "hot: 1.5 x fair"});
  draw_legend(canvas, kLegend, legend);
  frame.draw_axes();
}

}  // namespace cleave::draw
