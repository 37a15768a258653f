// Pictures of a simulated run: three charts, each as SVG and as PNG.
//
// Threads: values.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rehearse/record.h"

namespace cleave::draw {

// One picture of a run in both forms.
struct Picture {
  std::string_view name;  // of the files, without their end
  std::string svg;        // the same record, the same bytes
  std::string png;        // 2,000 x 1,120 pixels
};

// "loads", "heat", "peak": draw/charts.h. Errors: kInvalid for a record without a moment or node;
// kExhausted when there is no memory for one. Cost: about 0.1 s.
Result<std::array<Picture, 3>> pictures_of(const rehearse::Record& record);

// Writes them as loads.svg, loads.png, ... into the directory, which is made when it is missing.
// Files that are there are overwritten. Errors: those of `pictures_of`; kUnavailable when a file
// cannot be written.
Result<void> draw_all(const rehearse::Record& record, const std::filesystem::path& directory);

}  // namespace cleave::draw
