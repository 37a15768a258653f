#include "draw/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "draw/charts.h"
#include "draw/frame.h"
#include "draw/picture_file.h"
#include "draw/png_canvas.h"
#include "draw/svg_canvas.h"

namespace cleave::draw {
namespace {

struct Chart {
  std::string_view name;
  std::string_view title;
  void (*draw)(Canvas& canvas, const rehearse::Record& record);
};

constexpr std::array<Chart, 3> kCharts{{{"loads", "Load of each node", draw_loads},
                                        {"heat", "Heat over the ring", draw_heat},
                                        {"peak", "Peak over mean", draw_peak}}};

Picture picture_of(const Chart& chart, const rehearse::Record& record) {
  SvgCanvas svg(kWidth, kHeight, fmt::format("{}: {}", chart.title, run_title(record)));
  PngCanvas png(kWidth, kHeight);
  chart.draw(svg, record);
  chart.draw(png, record);
  return {.name = chart.name, .svg = svg.document(), .png = png.file()};
}

// When the last move ended and the last cut came or went; at least a minute.
seconds last_event(const rehearse::Record& record) {
  seconds last{60};
  const seconds end = record.moments.back().at;
  for (const rehearse::RecordedMove& each : record.moves) last = std::max(last, each.ended);
  for (const rehearse::RecordedCut& each : record.cuts) {
    last = std::max(last, each.until < end ? each.until : each.from);
  }
  // A node that joins or leaves.
  for (std::size_t i = 1; i < record.moments.size(); ++i) {
    const auto& before = record.moments[i - 1].node_load;
    const auto& now = record.moments[i].node_load;
    for (std::size_t node = 0; node < now.size(); ++node) {
      if ((before[node] == 0) != (now[node] == 0)) last = std::max(last, record.moments[i].at);
    }
  }
  return last;
}

// A run of an hour that is level after a minute would show all that happened in its first pixels:
// the pictures then end at twice the time of the last event.
std::optional<rehearse::Record> without_calm_end(const rehearse::Record& record) {
  const seconds shown = last_event(record) * 2;
  if (shown * 2 > record.moments.back().at) return std::nullopt;
  rehearse::Record cut = record;
  std::erase_if(cut.moments, [&](const rehearse::Moment& each) { return each.at > shown; });
  if (cut.moments.size() < 2) return std::nullopt;
  for (rehearse::RecordedCut& each : cut.cuts) each.until = std::min(each.until, shown);
  cut.workload +=
      fmt::format(", first {} of {} s", shown.count(),
                  grouped(static_cast<std::uint64_t>(record.moments.back().at.count())));
  return cut;
}

}  // namespace

std::string run_title(const rehearse::Record& record) {
  return fmt::format("{}, policy {}, seed {} ({} nodes, {} keys)", record.workload, record.policy,
                     record.seed, grouped(record.nodes.size()), grouped(record.keys));
}

Result<std::array<Picture, 3>> pictures_of(const rehearse::Record& record) {
  if (record.moments.empty() || record.nodes.empty()) {
    return fail(Code::kInvalid, "pictures: the run has no moment or no node to show");
  }
  for (const rehearse::Moment& each : record.moments) {
    if (each.node_load.size() != record.nodes.size()) {
      return fail(Code::kInvalid, "pictures: a moment has not one load for each node");
    }
  }
  const std::optional<rehearse::Record> zoomed = without_calm_end(record);
  const rehearse::Record& drawn = zoomed ? *zoomed : record;
  std::array<Picture, 3> pictures;
  for (std::size_t at = 0; at < kCharts.size(); ++at) {
    pictures[at] = picture_of(kCharts[at], drawn);
    if (pictures[at].png.empty()) {
      return fail(Code::kExhausted, "pictures: no memory for " + std::string(kCharts[at].name));
    }
  }
  return pictures;
}

Result<void> draw_all(const rehearse::Record& record, const std::filesystem::path& directory) {
  const auto pictures = pictures_of(record);
  if (!pictures) return std::unexpected(pictures.error());
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    return fail(Code::kUnavailable,
                "cannot make the directory '" + directory.string() + "': " + failed.message());
  }
  for (const Picture& each : *pictures) {
    const std::filesystem::path stem = directory / each.name;
    for (const auto& [end, bytes] : {std::pair{".svg", &each.svg}, std::pair{".png", &each.png}}) {
      std::filesystem::path path = stem;
      path += end;
      if (const auto written = write_bytes(path, *bytes); !written) return written;
    }
  }
  return {};
}

}  // namespace cleave::draw
