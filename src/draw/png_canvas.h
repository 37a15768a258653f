// A picture as PNG, by cairo (docs/adr/0010-pictures.md). Twice the pixels of the canvas each way,
// so that it stays sharp when enlarged.
#pragma once

#include <memory>
#include <string>

#include "draw/canvas.h"

namespace cleave::draw {

class PngCanvas final : public Canvas {
 public:
  static constexpr int kScale = 2;

  PngCanvas(double width, double height);
  ~PngCanvas() override;

  void fill(const Box& box, Colour colour) override;
  void line(std::span<const Point> points, const Stroke& stroke) override;
  void area(std::span<const Point> corners, Colour colour) override;
  void disc(Point centre, double radius, Colour colour) override;
  void sector(const Sector& sector, Colour colour, std::string_view hint) override;
  void text(Point at, std::string_view text, const Font& font) override;
  void image(const Box& box, const Image& image) override;

  // The whole file; "" when there was no memory for it.
  std::string file() const;

 private:
  struct Surface;

  std::unique_ptr<Surface> surface_;
};

// The image alone, one pixel of the file for each of its own. Requires: at least one pixel.
std::string png_of(const Image& image);

}  // namespace cleave::draw
