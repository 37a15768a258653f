#include "draw/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>

#include "draw/png_canvas.h"

namespace cleave::draw {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char each : text) {
    switch (each) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default:
        // XML has no way to write other control characters.
        result += static_cast<unsigned char>(each) < 0x20 ? ' ' : each;
    }
  }
  return result;
}

// 12.50 -> "12.5": shorter, and -0 is 0.
std::string number(double value, int decimals = 2) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string paint(std::string_view name, Colour colour) {
  std::string text =
      fmt::format(R"({}="#{:02x}{:02x}{:02x}")", name, colour.red, colour.green, colour.blue);
  if (colour.alpha < 1) text += fmt::format(R"( {}-opacity="{}")", name, number(colour.alpha));
  return text;
}

std::string points_text(std::span<const Point> points) {
  std::string text;
  for (const Point& each : points) {
    if (!text.empty()) text += ' ';
    text += number(each.x) + ',' + number(each.y);
  }
  return text;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t each = 0; each < 3; ++each) {
      bits = (bits << 8U) | (each < group.size() ? static_cast<unsigned char>(group[each]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const std::uint32_t value = (bits >> (18U - 6U * digit)) & 63U;
      text += digit <= group.size() ? kDigits[value] : '=';
    }
  }
  return text;
}

// On the circle around the centre. One decimal more than elsewhere: a ring has thousands of arcs.
std::string on_circle(Point centre, double radius, double turns) {
  const double angle = turns * 2 * std::numbers::pi;
  return number(centre.x + radius * std::sin(angle), 3) + ',' +
         number(centre.y - radius * std::cos(angle), 3);
}

enum class Turn : std::uint8_t { kLeft, kRight };

// From where the pen is to `to`, over the middle: an arc of a whole turn would be none.
std::string arc_text(const Sector& sector, double radius, Turn turn) {
  const double middle = (sector.from + sector.to) / 2;
  const double to = turn == Turn::kRight ? sector.to : sector.from;
  const std::string head =
      fmt::format("A{0} {0} 0 0 {1} ", number(radius), turn == Turn::kRight ? 1 : 0);
  std::string text;
  if (sector.to - sector.from > 0.25) text = head + on_circle(sector.centre, radius, middle);
  return text + head + on_circle(sector.centre, radius, to);
}

std::string box_text(const Box& box) {
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", number(box.x), number(box.y),
                     number(box.width), number(box.height));
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, std::string_view title) {
  body_ = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" )"
      R"(width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" )"
      R"(font-family="DejaVu Sans, Verdana, sans-serif">)",
      number(width), number(height));
  body_ += "\n<title>" + escaped(title) + "</title>\n";
}

void SvgCanvas::fill(const Box& box, Colour colour) {
  body_ += fmt::format("<rect {} {}/>\n", box_text(box), paint("fill", colour));
}

void SvgCanvas::line(std::span<const Point> points, const Stroke& stroke) {
  if (points.size() < 2) return;
  body_ += fmt::format(R"(<polyline points="{}" fill="none" {} stroke-width="{}")",
                       points_text(points), paint("stroke", stroke.colour), number(stroke.width));
  if (stroke.dash > 0) body_ += fmt::format(R"( stroke-dasharray="{}")", number(stroke.dash));
  body_ += " stroke-linejoin=\"round\"/>\n";
}

void SvgCanvas::area(std::span<const Point> corners, Colour colour) {
  if (corners.size() < 3) return;
  body_ +=
      fmt::format("<polygon points=\"{}\" {}/>\n", points_text(corners), paint("fill", colour));
}

void SvgCanvas::disc(Point centre, double radius, Colour colour) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", number(centre.x),
                       number(centre.y), number(radius), paint("fill", colour));
}

void SvgCanvas::sector(const Sector& sector, Colour colour, std::string_view hint) {
  body_ +=
      fmt::format("<path d=\"M{}{}L{}{}Z\" {}", on_circle(sector.centre, sector.outer, sector.from),
                  arc_text(sector, sector.outer, Turn::kRight),
                  on_circle(sector.centre, sector.inner, sector.to),
                  arc_text(sector, sector.inner, Turn::kLeft), paint("fill", colour));
  if (hint.empty()) {
    body_ += "/>\n";
  } else {
    body_ += "><title>" + escaped(hint) + "</title></path>\n";
  }
}

void SvgCanvas::text(Point at, std::string_view text, const Font& font) {
  body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" {})", number(at.x), number(at.y),
                       number(font.size), paint("fill", font.colour));
  if (font.anchor == Anchor::kMiddle) body_ += R"( text-anchor="middle")";
  if (font.anchor == Anchor::kEnd) body_ += R"( text-anchor="end")";
  if (font.weight == Weight::kBold) body_ += R"( font-weight="bold")";
  if (font.upwards) {
    body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", number(at.x), number(at.y));
  }
  body_ += ">" + escaped(text) + "</text>\n";
}

void SvgCanvas::image(const Box& box, const Image& image) {
  body_ += fmt::format(R"(<image {} preserveAspectRatio="none" style="image-rendering:pixelated" )",
                       box_text(box));
  body_ += "xlink:href=\"data:image/png;base64," + base64(png_of(image)) + "\"/>\n";
}

}  // namespace cleave::draw
