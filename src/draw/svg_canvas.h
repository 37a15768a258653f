// A picture as SVG 1.1: text stays text, numbers have two decimals, and nothing depends on the
// fonts or libraries of the machine but the compressed bytes of an image, so that equal pictures
// are equal bytes.
#pragma once

#include <string>

#include "draw/canvas.h"

namespace cleave::draw {

class SvgCanvas final : public Canvas {
 public:
  // `title` is what a screen reader says.
  SvgCanvas(double width, double height, std::string_view title);

  void fill(const Box& box, Colour colour) override;
  void line(std::span<const Point> points, const Stroke& stroke) override;
  void area(std::span<const Point> corners, Colour colour) override;
  void disc(Point centre, double radius, Colour colour) override;
  void sector(const Sector& sector, Colour colour, std::string_view hint) override;
  void text(Point at, std::string_view text, const Font& font) override;
  void image(const Box& box, const Image& image) override;

  // The whole document.
  std::string document() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace cleave::draw
