#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "draw/charts.h"
#include "draw/frame.h"
#include "draw/palette.h"

namespace cleave::draw {
namespace {

constexpr double kMillion = 1'000'000;
constexpr Box kAbove{kPlot.x, kPlot.y, kPlot.width, 332};
constexpr Box kMoves{kPlot.x, kPlot.y + 352, kPlot.width, kPlot.height - 352};

double times(std::uint32_t ppm) { return ppm / kMillion; }

// What the balancer promises: README.md, "Numbers".
double goal(const rehearse::Moment& moment) {
  return std::max(1.10, 1.05 * times(moment.bound_ppm));
}

// Moves one above the other as long as they overlap.
std::vector<std::size_t> lanes_of(const std::vector<rehearse::RecordedMove>& moves) {
  std::vector<seconds> free_from;
  std::vector<std::size_t> lanes;
  for (const rehearse::RecordedMove& each : moves) {
    const auto lane =
        std::ranges::find_if(free_from, [&](seconds until) { return until <= each.began; });
    lanes.push_back(static_cast<std::size_t>(lane - free_from.begin()));
    const seconds until = std::max(each.ended, each.began + seconds{1});
    if (lane == free_from.end()) {
      free_from.push_back(until);
    } else {
      *lane = until;
    }
  }
  return lanes;
}

void draw_moves(Canvas& canvas, const rehearse::Record& record) {
  std::vector<rehearse::RecordedMove> moves = record.moves;
  std::ranges::stable_sort(moves, {}, &rehearse::RecordedMove::began);
  const std::vector<std::size_t> lanes = lanes_of(moves);
  const std::size_t count = lanes.empty() ? 1 : *std::ranges::max_element(lanes) + 1;
  Axis up{.from = 0, .to = static_cast<double>(std::max<std::size_t>(3, count)), .name = "moves"};
  Frame frame(canvas, kMoves, time_axis(record.moments.back().at), std::move(up));
  frame.draw_grid();
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const auto lane = static_cast<double>(lanes[at]);
    const Point low = frame.at(static_cast<double>(moves[at].began.count()), lane + 0.08);
    const Point high = frame.at(static_cast<double>(moves[at].ended.count()), lane + 0.92);
    const Colour colour = moves[at].committed ? kBlue : kFaint;
    const double width = std::max(1.6, high.x - low.x);
    canvas.fill({std::min(low.x, kMoves.right() - width), high.y, width, low.y - high.y}, colour);
  }
  frame.draw_axes();
}

std::string moves_text(const rehearse::Record& record) {
  std::uint64_t keys = 0;
  std::uint64_t committed = 0;
  for (const rehearse::RecordedMove& each : record.moves) {
    keys += each.committed ? each.keys : 0;
    committed += each.committed ? 1 : 0;
  }
  const double percent =
      record.keys == 0 ? 0 : 100 * static_cast<double>(keys) / static_cast<double>(record.keys);
  return fmt::format("a move, {} in all:\n{} keys moved\n({:.1f} % of all)", grouped(committed),
                     grouped(keys), percent);
}

}  // namespace

void draw_peak(Canvas& canvas, const rehearse::Record& record) {
  draw_caption(canvas, "Peak over mean: " + run_title(record),
               "The hottest node against the least that any placement of whole keys could reach.");
  double reach = 1.6;
  for (const rehearse::Moment& each : record.moments) {
    reach = std::max({reach, times(each.peak_ppm), goal(each)});
  }
  Axis across = time_axis(record.moments.back().at);
  across.name.clear();
  for (Tick& each : across.ticks) each.label.clear();
  Frame frame(canvas, kAbove, std::move(across),
              amount_axis(1, reach, "highest load / fair load of a node"));
  frame.draw_grid();
  std::array<std::vector<Point>, 4> lines;  // bound, goal, hot, peak
  for (const rehearse::Moment& each : record.moments) {
    const auto at = static_cast<double>(each.at.count());
    lines[0].push_back(frame.at(at, times(each.bound_ppm)));
    lines[1].push_back(frame.at(at, goal(each)));
    lines[2].push_back(frame.at(at, 1.5));
    lines[3].push_back(frame.at(at, times(each.peak_ppm)));
  }
  std::vector<Point> floor = lines[0];
  floor.push_back({kAbove.right(), kAbove.bottom()});
  floor.push_back({kAbove.x, kAbove.bottom()});
  canvas.area(floor, {110, 110, 110, 0.14});
  const std::array legend{
      LegendEntry{.stroke = {.colour = kVermilion, .width = 2.4}, .text = "peak over mean"},
      LegendEntry{.stroke = {.colour = kFaint, .width = 1, .dash = 2}, .text = "hot: 1.5"},
      LegendEntry{.stroke = {.colour = kGreen, .width = 1.8, .dash = 7},
                  .text = "goal: 1.10, or\n1.05 x the bound"},
      LegendEntry{.stroke = {.colour = kInk, .width = 1.4},
                  .text = "bound: no placement\ncan go below"}};
  canvas.line(lines[0], legend[3].stroke);
  canvas.line(lines[1], legend[2].stroke);
  canvas.line(lines[2], legend[1].stroke);
  canvas.line(lines[3], legend[0].stroke);
  draw_legend(canvas, kLegend, legend);
  frame.draw_axes();
  draw_moves(canvas, record);
  const std::array moves{
      LegendEntry{
          .mark = LegendEntry::Mark::kBar, .stroke = {.colour = kBlue}, .text = moves_text(record)},
      LegendEntry{.mark = LegendEntry::Mark::kBar,
                  .stroke = {.colour = kFaint},
                  .text = "given up or under way"}};
  draw_legend(canvas, {kLegend.x, kMoves.y - 16}, moves);
}

}  // namespace cleave::draw
