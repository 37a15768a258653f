// Canvas: the few shapes that charts are made of. A chart is drawn once, through this interface,
// and so looks the same as SVG (draw/svg_canvas.h) and as PNG (draw/png_canvas.h).
//
// Lengths are in pixels of a picture 1,000 wide; y grows downwards. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cleave::draw {

// Of the screen's kind.
struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  double alpha = 1;  // 0 invisible ... 1 solid

  friend bool operator==(const Colour&, const Colour&) = default;
};

// A place on the canvas.
struct Point {
  double x = 0;
  double y = 0;
};

// The point is its corner at the top left.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

// A piece of a ring. Angles are in turns, clockwise from the top; from <= to <= from + 1.
struct Sector {
  Point centre = {};
  double inner = 0;  // radius
  double outer = 0;
  double from = 0;
  double to = 0;
};

// How a line is drawn.
struct Stroke {
  Colour colour = {};
  double width = 1;
  double dash = 0;  // length of a dash and of a gap; 0 = solid
};

// Which point of a text is at its place.
enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

enum class Weight : std::uint8_t { kNormal, kBold };

// How a text is set.
struct Font {
  double size = 12;
  Colour colour = {};
  Anchor anchor = Anchor::kStart;
  Weight weight = Weight::kNormal;
  bool upwards = false;  // turned by a quarter, read from below
};

// Row by row from the top; solid colours.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<Colour> pixels = {};
};

class Canvas {
 public:
  Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  virtual ~Canvas() = default;

  virtual void fill(const Box& box, Colour colour) = 0;
  virtual void line(std::span<const Point> points, const Stroke& stroke) = 0;
  virtual void area(std::span<const Point> corners, Colour colour) = 0;
  virtual void disc(Point centre, double radius, Colour colour) = 0;
  // `hint` is told to who points at it, where a picture can do so.
  virtual void sector(const Sector& sector, Colour colour, std::string_view hint) = 0;
  // The point lies on the text's base line.
  virtual void text(Point at, std::string_view text, const Font& font) = 0;
  // Stretched over the box without smoothing. Requires: width x height pixels, at least one.
  virtual void image(const Box& box, const Image& image) = 0;
};

}  // namespace cleave::draw
