#include "draw/picture_file.h"

#include <fstream>

#include "draw/frame.h"
#include "draw/png_canvas.h"
#include "draw/svg_canvas.h"

namespace cleave::draw {

Result<void> check_picture_path(const std::filesystem::path& path) {
  if (path.extension() == ".svg" || path.extension() == ".png") return {};
  return fail(Code::kInvalid,
              "a picture's name ends with .svg or .png, not '" + path.string() + "'");
}

Result<void> write_picture(const std::filesystem::path& path, std::string_view title,
                           const std::function<void(Canvas&)>& draw) {
  if (auto good = check_picture_path(path); !good) return good;
  if (path.extension() == ".svg") {
    SvgCanvas canvas(kWidth, kHeight, title);
    draw(canvas);
    return write_bytes(path, canvas.document());
  }
  PngCanvas canvas(kWidth, kHeight);
  draw(canvas);
  const std::string file = canvas.file();
  if (file.empty()) return fail(Code::kExhausted, "no memory for '" + path.string() + "'");
  return write_bytes(path, file);
}

Result<void> write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(Code::kUnavailable, "cannot write '" + path.string() + "'");
  return {};
}

}  // namespace cleave::draw
