#include "draw/png_canvas.h"

#include <cairo.h>

#include <cstring>

#include "base/check.h"

namespace cleave::draw {
namespace {

constexpr double kFullCircle = 6.283185307179586;
constexpr double kQuarter = kFullCircle / 4;

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned int size) {
  static_cast<std::string*>(closure)->append(bytes, bytes + size);
  return CAIRO_STATUS_SUCCESS;
}

std::string encoded(cairo_surface_t* surface) {
  std::string file;
  if (cairo_surface_write_to_png_stream(surface, append, &file) != CAIRO_STATUS_SUCCESS) return "";
  return file;
}

double part(std::uint8_t value) { return static_cast<double>(value) / 255; }

// Cairo's own pixels: 0xAARRGGBB in the machine's byte order.
std::uint32_t packed(Colour colour) {
  return 0xFF000000U | std::uint32_t{colour.red} << 16U | std::uint32_t{colour.green} << 8U |
         std::uint32_t{colour.blue};
}

cairo_surface_t* surface_of(const Image& image) {
  CHECK(image.width > 0 && image.pixels.size() == image.width * image.height);
  cairo_surface_t* surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(image.width), static_cast<int>(image.height));
  unsigned char* bytes = cairo_image_surface_get_data(surface);
  if (bytes == nullptr) return surface;  // in an error state: drawing it does nothing
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
  for (std::size_t at = 0; at < image.pixels.size(); ++at) {
    const std::uint32_t pixel = packed(image.pixels[at]);
    unsigned char* target = bytes + at / image.width * stride + at % image.width * sizeof pixel;
    std::memcpy(target, &pixel, sizeof pixel);
  }
  cairo_surface_mark_dirty(surface);
  return surface;
}

}  // namespace

struct PngCanvas::Surface {
  cairo_surface_t* surface = nullptr;
  cairo_t* context = nullptr;

  void colour(Colour colour) const {
    cairo_set_source_rgba(context, part(colour.red), part(colour.green), part(colour.blue),
                          colour.alpha);
  }

  void path(std::span<const Point> points) const {
    cairo_new_path(context);
    for (const Point& each : points) cairo_line_to(context, each.x, each.y);
  }
};

PngCanvas::PngCanvas(double width, double height) : surface_(std::make_unique<Surface>()) {
  surface_->surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(width * kScale), static_cast<int>(height * kScale));
  surface_->context = cairo_create(surface_->surface);
  cairo_scale(surface_->context, kScale, kScale);
  cairo_set_line_join(surface_->context, CAIRO_LINE_JOIN_ROUND);
}

PngCanvas::~PngCanvas() {
  cairo_destroy(surface_->context);
  cairo_surface_destroy(surface_->surface);
}

void PngCanvas::fill(const Box& box, Colour colour) {
  surface_->colour(colour);
  cairo_rectangle(surface_->context, box.x, box.y, box.width, box.height);
  cairo_fill(surface_->context);
}

void PngCanvas::line(std::span<const Point> points, const Stroke& stroke) {
  if (points.size() < 2) return;
  cairo_t* context = surface_->context;
  surface_->colour(stroke.colour);
  cairo_set_line_width(context, stroke.width);
  cairo_set_dash(context, &stroke.dash, stroke.dash > 0 ? 1 : 0, 0);
  surface_->path(points);
  cairo_stroke(context);
}

void PngCanvas::area(std::span<const Point> corners, Colour colour) {
  if (corners.size() < 3) return;
  surface_->colour(colour);
  surface_->path(corners);
  cairo_fill(surface_->context);
}

void PngCanvas::disc(Point centre, double radius, Colour colour) {
  surface_->colour(colour);
  cairo_new_path(surface_->context);
  cairo_arc(surface_->context, centre.x, centre.y, radius, 0, kFullCircle);
  cairo_fill(surface_->context);
}

void PngCanvas::sector(const Sector& sector, Colour colour, std::string_view /*hint*/) {
  // Cairo's angles begin at the right.
  const double from = sector.from * kFullCircle - kQuarter;
  const double to = sector.to * kFullCircle - kQuarter;
  const Point centre = sector.centre;
  surface_->colour(colour);
  cairo_new_path(surface_->context);
  cairo_arc(surface_->context, centre.x, centre.y, sector.outer, from, to);
  cairo_arc_negative(surface_->context, centre.x, centre.y, sector.inner, to, from);
  cairo_close_path(surface_->context);
  cairo_fill(surface_->context);
}

void PngCanvas::text(Point at, std::string_view text, const Font& font) {
  cairo_t* context = surface_->context;
  const std::string copy(text);
  cairo_save(context);
  cairo_select_font_face(
      context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
      font.weight == Weight::kBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, font.size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, copy.c_str(), &extents);
  double shift = 0;
  if (font.anchor == Anchor::kMiddle) shift = extents.x_advance / 2;
  if (font.anchor == Anchor::kEnd) shift = extents.x_advance;
  surface_->colour(font.colour);
  cairo_translate(context, at.x, at.y);
  if (font.upwards) cairo_rotate(context, -kQuarter);
  cairo_move_to(context, -shift, 0);
  cairo_show_text(context, copy.c_str());
  cairo_restore(context);
}

void PngCanvas::image(const Box& box, const Image& image) {
  cairo_t* context = surface_->context;
  cairo_surface_t* pixels = surface_of(image);
  cairo_save(context);
  cairo_translate(context, box.x, box.y);
  cairo_scale(context, box.width / static_cast<double>(image.width),
              box.height / static_cast<double>(image.height));
  cairo_set_source_surface(context, pixels, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD);
  cairo_rectangle(context, 0, 0, static_cast<double>(image.width),
                  static_cast<double>(image.height));
  cairo_fill(context);
  cairo_restore(context);
  cairo_surface_destroy(pixels);
}

std::string PngCanvas::file() const { return encoded(surface_->surface); }

std::string png_of(const Image& image) {
  cairo_surface_t* surface = surface_of(image);
  std::string file = encoded(surface);
  cairo_surface_destroy(surface);
  return file;
}

}  // namespace cleave::draw
