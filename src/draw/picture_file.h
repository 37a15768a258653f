// One picture into one file, as what its name ends with.
//
// Threads: values.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "draw/canvas.h"

namespace cleave::draw {

// Whether the name ends with ".svg" or ".png". Errors: kInvalid, names the path.
Result<void> check_picture_path(const std::filesystem::path& path);

// `title` is what a screen reader says. Overwrites the file. Errors: kInvalid for another end of
// the name; kExhausted when there is no memory for the picture; kUnavailable when the file cannot
// be written.
Result<void> write_picture(const std::filesystem::path& path, std::string_view title,
                           const std::function<void(Canvas&)>& draw);

// Overwrites the file. Errors: kUnavailable.
Result<void> write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace cleave::draw
