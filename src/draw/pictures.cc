#include "draw/pictures.h"

#include <fmt/format.h>

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
  void (*draw)(Canvas& canvas, const simulate::Record& record);
};

constexpr std::array<Chart, 3> kCharts{{{"loads", "Load of each node", draw_loads},
                                        {"heat", "Heat over the ring", draw_heat},
                                        {"peak", "Peak over mean", draw_peak}}};

Picture picture_of(const Chart& chart, const simulate::Record& record) {
  SvgCanvas svg(kWidth, kHeight, fmt::format("{}: {}", chart.title, run_title(record)));
  PngCanvas png(kWidth, kHeight);
  chart.draw(svg, record);
  chart.draw(png, record);
  return {.name = chart.name, .svg = svg.document(), .png = png.file()};
}

}  // namespace

std::string run_title(const simulate::Record& record) {
  return fmt::format("{}, policy {}, seed {} ({} nodes, {} keys)", record.workload, record.policy,
                     record.seed, grouped(record.nodes.size()), grouped(record.keys));
}

Result<std::array<Picture, 3>> pictures_of(const simulate::Record& record) {
  if (record.moments.empty() || record.nodes.empty()) {
    return fail(Code::kInvalid, "pictures: the run has no moment or no node to show");
  }
  for (const simulate::Moment& each : record.moments) {
    if (each.node_load.size() != record.nodes.size()) {
      return fail(Code::kInvalid, "pictures: a moment has not one load for each node");
    }
  }
  std::array<Picture, 3> pictures;
  for (std::size_t at = 0; at < kCharts.size(); ++at) {
    pictures[at] = picture_of(kCharts[at], record);
    if (pictures[at].png.empty()) {
      return fail(Code::kExhausted, "pictures: no memory for " + std::string(kCharts[at].name));
    }
  }
  return pictures;
}

Result<void> draw_all(const simulate::Record& record, const std::filesystem::path& directory) {
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
