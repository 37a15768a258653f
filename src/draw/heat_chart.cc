#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/charts.h"
#include "draw/frame.h"
#include "draw/palette.h"

namespace cleave::draw {
namespace {

using rehearse::kStripes;

// Shades are steps of a factor, from a quarter of the mean stripe's load to the highest one.
constexpr double kColdest = -2;  // log2 of the load over the mean
constexpr double kHottestLeast = 2;

class HeatChart {
 public:
  HeatChart(Canvas& canvas, const rehearse::Record& record) : canvas_(canvas), record_(record) {
    double total = 0;
    double highest = 0;
    for (const rehearse::Moment& moment : record.moments) {
      for (const std::uint64_t load : moment.stripe_load) {
        total += static_cast<double>(load);
        highest = std::max(highest, static_cast<double>(load));
      }
    }
    mean_ = total / static_cast<double>(kStripes * record.moments.size());
    hottest_ = mean_ > 0 ? std::max(kHottestLeast, std::log2(highest / mean_)) : kHottestLeast;
  }

  void draw() {
    draw_caption(canvas_, "Heat over the ring: " + run_title(record_),
                 "Shade: load of 1/256 of all tokens. White: cuts while they were there. "
                 "Dots: pieces of moves.");
    Axis up{.from = 0, .to = kStripes, .name = "token (its first two hexadecimal digits)"};
    for (int at = 0; at < 256; at += 32) {
      up.ticks.push_back({static_cast<double>(at), fmt::format("{:02x}", at)});
    }
    Frame frame(canvas_, kPlot, time_axis(record_.moments.back().at), std::move(up));
    canvas_.image(kPlot, strip());
    for (const rehearse::RecordedCut& each : record_.cuts) draw_cut(frame, each);
    for (const rehearse::RecordedMove& each : record_.moves) draw_move(frame, each);
    frame.draw_axes();
    draw_key();
  }

 private:
  double level(double load) const {
    if (load <= 0 || mean_ <= 0) return 0;
    return (std::log2(load / mean_) - kColdest) / (hottest_ - kColdest);
  }

  // One column a moment, token 0 at the bottom.
  Image strip() const {
    Image image{.width = record_.moments.size(), .height = kStripes};
    image.pixels.resize(image.width * image.height);
    for (std::size_t column = 0; column < image.width; ++column) {
      const std::vector<std::uint64_t>& loads = record_.moments[column].stripe_load;
      for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
        const double load = stripe < loads.size() ? static_cast<double>(loads[stripe]) : 0;
        image.pixels[(kStripes - 1 - stripe) * image.width + column] = heat_colour(level(load));
      }
    }
    return image;
  }

  static double stripe_of(Token token) {
    return static_cast<double>(token.value()) / 0x1p56;  // a double has bits enough for a pixel
  }

  // The heat must stay visible behind many.
  Stroke cut_stroke() const {
    const auto count = static_cast<double>(record_.cuts.size());
    return {.colour = {255, 255, 255, std::clamp(20 / (count + 1), 0.12, 0.7)},
            .width = count > 60 ? 0.6 : 0.9};
  }

  void draw_cut(const Frame& frame, const rehearse::RecordedCut& cut) {
    static constexpr double kTwoLines = 4;  // pixels from which on both ends are drawn
    static constexpr double kTick = 7;
    const auto from = static_cast<double>(cut.from.count());
    const auto until = static_cast<double>(cut.until.count());
    const double first = stripe_of(cut.range.first);
    const double last = stripe_of(cut.range.last);
    const Stroke stroke = cut_stroke();
    if (frame.at(0, first).y - frame.at(0, last).y < kTwoLines) {
      // Of single keys there may be thousands: a tick where each begins, not a line over the heat.
      const Point begin = frame.at(from, (first + last) / 2);
      const double end = std::min(begin.x + kTick, frame.at(until, first).x);
      canvas_.line(std::array{begin, Point{end, begin.y}}, stroke);
      return;
    }
    for (const double height : {first, last}) {
      canvas_.line(std::array{frame.at(from, height), frame.at(until, height)}, stroke);
    }
  }

  void draw_move(const Frame& frame, const rehearse::RecordedMove& move) {
    const Colour colour = move.committed ? kVermilion : kFaint;
    for (const ring::TokenRange& range : move.ranges) {
      const double height = (stripe_of(range.first) + stripe_of(range.last)) / 2;
      const Point began = frame.at(static_cast<double>(move.began.count()), height);
      const Point ended = frame.at(static_cast<double>(move.ended.count()), height);
      canvas_.line(std::array{began, ended}, {.colour = colour, .width = 2});
      canvas_.disc(began, 3.4, kPaper);
      canvas_.disc(began, 2.5, colour);
    }
  }

  void draw_key() {
    const std::array legend{
        LegendEntry{.stroke = {.colour = kFaint, .width = 1}, .text = "a cut (white)"},
        LegendEntry{.mark = LegendEntry::Mark::kDisc,
                    .stroke = {.colour = kVermilion},
                    .text = "a piece begins to\nmove; line: until\nit has moved"},
        LegendEntry{.mark = LegendEntry::Mark::kDisc,
                    .stroke = {.colour = kFaint},
                    .text = "a move given up"}};
    const Point below = draw_legend(canvas_, kLegend, legend);
    const Box bar{kLegend.x, below.y + 44, 22, kPlot.bottom() - below.y - 44};
    canvas_.text({bar.x, bar.y - 26}, "load of a stripe,", {.size = 12, .colour = kInk});
    canvas_.text({bar.x, bar.y - 10}, "times the mean", {.size = 12, .colour = kInk});
    Image shades{.width = 1, .height = 128};
    for (std::size_t row = 0; row < shades.height; ++row) {
      shades.pixels.push_back(heat_colour(1 - static_cast<double>(row) / 127));
    }
    canvas_.image(bar, shades);
    const double step = std::max(1.0, std::ceil((hottest_ - kColdest) / 8));
    for (double power = kColdest; power <= hottest_; power += step) {
      const double share = (power - kColdest) / (hottest_ - kColdest);
      const double y = bar.bottom() - bar.height * share;
      canvas_.line(std::array{Point{bar.right(), y}, Point{bar.right() + 4, y}}, {.colour = kInk});
      canvas_.text({bar.right() + 8, y + 4}, fmt::format("{:g}", std::exp2(power)),
                   {.size = 12, .colour = kInk});
    }
  }

  Canvas& canvas_;
  const rehearse::Record& record_;
  double mean_ = 0;  // of a stripe, over the whole run
  double hottest_ = 0;
};

}  // namespace

void draw_heat(Canvas& canvas, const rehearse::Record& record) { HeatChart(canvas, record).draw(); }

}  // namespace cleave::draw
