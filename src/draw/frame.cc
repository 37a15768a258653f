#include "draw/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/palette.h"

namespace cleave::draw {
namespace {

constexpr double kSmall = 12;

struct TimeUnit {
  std::int64_t length;  // seconds
  std::string_view name;
};
constexpr std::array<TimeUnit, 4> kUnits{{{86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}}};
constexpr std::array<std::int64_t, 17> kTimeSteps{1,     2,      5,      10,     30,     60,
                                                  120,   300,    600,    1'200,  1'800,  3'600,
                                                  7'200, 14'400, 28'800, 86'400, 172'800};
constexpr std::int64_t kTimeTicksMax = 8;
constexpr double kTicksMax = 6;

// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis time_axis(seconds end) {
  const std::int64_t last = std::max<std::int64_t>(1, end.count());
  const auto* step = std::ranges::find_if(
      kTimeSteps, [&](std::int64_t each) { return last / each <= kTimeTicksMax; });
  const std::int64_t apart =
      step == kTimeSteps.end() ? (last + kTimeTicksMax - 1) / kTimeTicksMax : *step;
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const TimeUnit& each) { return apart % each.length == 0; });
  Axis axis{.from = 0, .to = static_cast<double>(last), .name = {}};
  axis.name = fmt::format("time since the start ({})", unit->name);
  for (std::int64_t at = 0; at <= last; at += apart) {
    axis.ticks.push_back({static_cast<double>(at), std::to_string(at / unit->length)});
  }
  return axis;
}

Axis amount_axis(double from, double reach, std::string name) {
  const double step = round_step((reach - from) / kTicksMax);
  Axis axis{.from = from, .to = from, .name = std::move(name)};
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  for (int count = 0; axis.to < reach * (1 - 1e-9); ++count) {
    axis.to = from + step * (count + 1);
  }
  for (int count = 0; from + step * count <= axis.to * (1 + 1e-9); ++count) {
    const double at = from + step * count;
    axis.ticks.push_back({at, fmt::format("{:.{}f}", at, decimals)});
  }
  return axis;
}

Point Frame::at(double across, double up) const {
  const auto share = [](const Axis& axis, double value) {
    return std::clamp((value - axis.from) / (axis.to - axis.from), 0.0, 1.0);
  };
  return {box_.x + box_.width * share(across_, across),
          box_.bottom() - box_.height * share(up_, up)};
}

void Frame::draw_grid() {
  for (const Tick& tick : up_.ticks) {
    const double y = at(across_.from, tick.at).y;
    canvas_.line(std::array{Point{box_.x, y}, Point{box_.right(), y}}, {.colour = kGrid});
  }
  for (const Tick& tick : across_.ticks) {
    const double x = at(tick.at, up_.from).x;
    canvas_.line(std::array{Point{x, box_.y}, Point{x, box_.bottom()}}, {.colour = kGrid});
  }
}

void Frame::draw_axes() {
  const std::array corner{Point{box_.x, box_.y}, Point{box_.x, box_.bottom()},
                          Point{box_.right(), box_.bottom()}};
  canvas_.line(corner, {.colour = kInk, .width = 1.2});
  const Font label{.size = kSmall, .colour = kInk};
  for (const Tick& tick : up_.ticks) {
    Font font = label;
    font.anchor = Anchor::kEnd;
    const double y = at(across_.from, tick.at).y;
    canvas_.line(std::array{Point{box_.x - 4, y}, Point{box_.x, y}}, {.colour = kInk});
    canvas_.text({box_.x - 8, y + 4}, tick.label, font);
  }
  Font font = label;
  font.anchor = Anchor::kMiddle;
  for (const Tick& tick : across_.ticks) {
    const double x = at(tick.at, up_.from).x;
    canvas_.line(std::array{Point{x, box_.bottom()}, Point{x, box_.bottom() + 4}},
                 {.colour = kInk});
    canvas_.text({x, box_.bottom() + 18}, tick.label, font);
  }
  if (!across_.name.empty()) {
    canvas_.text({box_.x + box_.width / 2, box_.bottom() + 40}, across_.name, font);
  }
  font.upwards = true;
  canvas_.text({box_.x - 50, box_.y + box_.height / 2}, up_.name, font);
}

void draw_caption(Canvas& canvas, std::string_view title, std::string_view subtitle) {
  canvas.fill({0, 0, kWidth, kHeight}, kPaper);
  canvas.text({24, 32}, title, {.size = 18, .colour = kInk, .weight = Weight::kBold});
  canvas.text({24, 54}, subtitle, {.size = 13, .colour = kFaint});
}

Point draw_legend(Canvas& canvas, Point at, std::span<const LegendEntry> entries) {
  static constexpr double kLine = 17;
  static constexpr double kMark = 26;
  for (const LegendEntry& each : entries) {
    const double middle = at.y + 8;
    switch (each.mark) {
      case LegendEntry::Mark::kLine:
        canvas.line(std::array{Point{at.x, middle}, Point{at.x + kMark, middle}}, each.stroke);
        break;
      case LegendEntry::Mark::kBar:
        canvas.fill({at.x, middle - 4, kMark, 8}, each.stroke.colour);
        break;
      case LegendEntry::Mark::kDisc:
        canvas.disc({at.x + kMark / 2, middle}, 4, each.stroke.colour);
        break;
    }
    std::string_view rest = each.text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      canvas.text({at.x + kMark + 8, at.y + 12}, line, {.size = kSmall, .colour = kInk});
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      at.y += kLine;
    }
    at.y += 5;
  }
  return at;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

}  // namespace cleave::draw
