#include "draw/ring_charts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/shown.h"
#include "draw/frame.h"
#include "draw/palette.h"
#include "draw/picture_file.h"
#include "draw/svg_canvas.h"
#include "ring/width.h"

namespace cleave::draw {
namespace {

constexpr double kInnerRing = 172;  // outer radius of the sums

// Keeps the sectors and texts of a chart, so that tests can count with them.
class RecordingCanvas final : public Canvas {
 public:
  struct Drawn {
    Sector sector;
    Colour colour;
    std::string hint;
  };

  void fill(const Box& box, Colour colour) override {
    boxes.push_back(box);
    box_colours.push_back(colour);
  }
  void line(std::span<const Point> /*points*/, const Stroke& /*stroke*/) override {}
  void area(std::span<const Point> /*corners*/, Colour /*colour*/) override {}
  void disc(Point /*centre*/, double /*radius*/, Colour /*colour*/) override {}
  void sector(const Sector& sector, Colour colour, std::string_view hint) override {
    sectors.push_back({sector, colour, std::string(hint)});
  }
  void text(Point at, std::string_view text, const Font& /*font*/) override {
    texts.emplace_back(text);
    text_points.push_back(at);
  }
  void image(const Box& /*box*/, const Image& /*image*/) override {}

  // Turns of all sectors of the ring that a colour has.
  double turns(bool inside, Colour colour) const {
    double sum = 0;
    for (const Drawn& each : sectors) {
      if ((each.sector.outer == kInnerRing) != inside || each.colour != colour) continue;
      sum += each.sector.to - each.sector.from;
    }
    return sum;
  }

  bool says(std::string_view wanted) const {
    return std::ranges::any_of(
        texts, [&](const std::string& text) { return text.find(wanted) != std::string::npos; });
  }

  std::vector<Drawn> sectors;
  std::vector<Box> boxes;
  std::vector<Colour> box_colours;
  std::vector<std::string> texts;
  std::vector<Point> text_points;
};

// Node i of three has the i-th and every third arc; all arcs are equal.
std::vector<ring::Arc> equal_arcs(std::uint32_t nodes, std::size_t count) {
  std::vector<ring::Arc> arcs;
  const std::uint64_t part = ring::kLastToken.value() / count + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId node{static_cast<std::uint32_t>(i % nodes) + 1};
    arcs.push_back({{Token{i * part}, Token{(i + 1) * part - 1}}, node});
  }
  return arcs;
}

OwnershipChart ownership(std::uint32_t nodes, std::span<const ring::Arc> arcs) {
  OwnershipChart chart{.title = "Who owns <the> ring", .nodes = {}, .arcs = arcs, .peak = 1.25};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    chart.nodes.push_back({"node-" + std::to_string(i), 0, 1.0 / nodes});
  }
  for (const ring::Arc& arc : arcs) {
    chart.nodes[arc.node.value() - 1].amount +=
        std::ldexp(static_cast<double>(ring::width(arc.range)), -64);
  }
  return chart;
}

TEST(RingCharts, AnglesAreTheSharesOutsideAndInside) {
  const auto arcs = equal_arcs(3, 64);
  const OwnershipChart chart = ownership(3, arcs);
  RecordingCanvas canvas;
  draw_ownership(canvas, chart);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(canvas.turns(false, node_colour(i)), chart.nodes[i].amount, 1e-9);
    EXPECT_NEAR(canvas.turns(true, node_colour(i)), chart.nodes[i].amount, 1e-9);
  }
  EXPECT_EQ(canvas.sectors.size(), 67U);
  EXPECT_TRUE(canvas.says("1.25"));
  EXPECT_TRUE(canvas.says("34.4 % / 33.3 %"));
  EXPECT_TRUE(canvas.says("3 nodes, 64 arcs"));
}

TEST(RingCharts, ManyNodesAreSortedAndOnlyTheEndsNamed) {
  const auto arcs = equal_arcs(500, 512);
  RecordingCanvas canvas;
  draw_ownership(canvas, ownership(500, arcs));
  EXPECT_TRUE(canvas.says("500 nodes, from the highest to the lowest"));
  EXPECT_TRUE(canvas.says("node-0: 1.95"));
  EXPECT_TRUE(canvas.says("node-499: 0.98"));
  EXPECT_FALSE(canvas.says("node-250"));
}

TEST(RingCharts, TooManyArcsAreSummedOnly) {
  const auto arcs = equal_arcs(2, 8'192);
  RecordingCanvas canvas;
  draw_ownership(canvas, ownership(2, arcs));
  EXPECT_EQ(canvas.sectors.size(), 2U);
  EXPECT_TRUE(canvas.says("8,192 arcs are too fine"));
}

TEST(RingCharts, ADiffShowsWhatMovesAndNothingElse) {
  const auto arcs = equal_arcs(4, 4);
  const std::vector<ring::Change> changes{{arcs[1].range, NodeId{1}, NodeId{2}}};
  const RingDiffChart chart{.title = "diff",
                            .nodes = {{"a", 0.25, 0.5}, {"b", 0.75, 0.5}},
                            .gained = {0, 0.25},
                            .changes = changes,
                            .least = 0.125};
  RecordingCanvas canvas;
  draw_ring_diff(canvas, chart);
  EXPECT_NEAR(canvas.turns(false, node_colour(1)), 0.25, 1e-9);
  EXPECT_NEAR(canvas.turns(true, node_colour(1)), 0.25, 1e-9);
  EXPECT_NEAR(canvas.turns(true, kGrid), 0.75, 1e-9);
  EXPECT_EQ(canvas.turns(false, node_colour(0)), 0);
  EXPECT_TRUE(canvas.says("25.0 %"));
  EXPECT_TRUE(canvas.says("at least 12.5 % has to"));
}

TEST(RingCharts, ADiffOfManyNodesShowsThoseThatChangeMost) {
  RingDiffChart chart{.title = "diff",
                      .nodes = {},
                      .gained = std::vector<double>(100),
                      .changes = {},
                      .least = 0,
                      .keys = 5'000};
  for (int i = 0; i < 100; ++i) chart.nodes.push_back({"n" + std::to_string(i), 0.01, 0.01});
  chart.nodes[77].amount = 0.02;
  RecordingCanvas canvas;
  draw_ring_diff(canvas, chart);
  EXPECT_TRUE(canvas.says("n77"));
  EXPECT_FALSE(canvas.says("n50"));
  EXPECT_TRUE(canvas.says("by 5,000 keys"));
  EXPECT_TRUE(canvas.says("the 20 nodes that change most"));
}

// The bars' lengths are in proportion to the keys.
TEST(RingCharts, ASpreadHasABarForEachNode) {
  RecordingCanvas canvas;
  draw_spread(
      canvas,
      {.title = "keys", .subtitle = "all", .nodes = {{"a", 1'500, 1'000}, {"b", 500, 1'000}}});
  const auto length = [&](std::size_t node) {
    const auto found = std::ranges::find(canvas.box_colours, node_colour(node));
    return canvas.boxes[static_cast<std::size_t>(found - canvas.box_colours.begin())].width;
  };
  EXPECT_NEAR(length(0) / length(1), 3, 1e-9);
  EXPECT_TRUE(canvas.says("1,500 / 1,000"));
}

TEST(RingCharts, AWholeTurnIsDrawnAndHintsAreEscaped) {
  const std::vector<ring::Arc> all{{{ring::kFirstToken, ring::kLastToken}, NodeId{1}}};
  OwnershipChart chart{.title = "one", .nodes = {{"<a>", 1, 1}}, .arcs = all, .peak = 1};
  SvgCanvas canvas(kWidth, kHeight, "test");
  draw_ownership(canvas, chart);
  const std::string text = canvas.document();
  // Twice half a circle: one arc from a point to itself would not be drawn.
  EXPECT_NE(text.find("M252,100A216 216 0 0 1 252,532A216 216 0 0 1 252,100L252,136"),
            std::string::npos);
  EXPECT_NE(text.find("<title>&lt;a&gt;: 100 %</title></path>"), std::string::npos);
}

TEST(NodeColours, NeighboursDifferAndTextsCanBeRead) {
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NE(node_colour(i), node_colour(i + 1));
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(node_colour(i), node_colour(j));
  }
  EXPECT_EQ(text_on(kPaper), kInk);
  EXPECT_EQ(text_on(kInk), kPaper);
}

// "r…3" would be four of forty nodes.
TEST(RingCharts, ALabelThatCouldBeSeveralNodesIsNotDrawn) {
  std::vector<ring::Arc> arcs;
  OwnershipChart chart{.title = "forty", .nodes = {}, .arcs = {}, .peak = 1};
  for (std::uint64_t i = 0; i < 40; ++i) {
    chart.nodes.push_back(
        {"a" + std::to_string(i % 10) + "-of-cache-" + std::to_string(i / 10), 1.0 / 40, 1.0 / 40});
  }
  chart.arcs = arcs;
  RecordingCanvas canvas;
  draw_ownership(canvas, chart);
  std::set<std::string> different;
  std::size_t labels = 0;
  for (std::size_t i = 0; i < canvas.texts.size(); ++i) {
    if (!canvas.texts[i].contains("…") || canvas.text_points[i].x >= 480) continue;
    ++labels;
    different.insert(canvas.texts[i]);
  }
  EXPECT_EQ(different.size(), labels);
}

// Forty long names that begin alike: what can be read tells them apart, and no label lies on
// another. A label is drawn level, its middle at its place.
TEST(RingCharts, LabelsOfManyLongNamesDoNotOverlap) {
  std::vector<ring::Arc> arcs;
  OwnershipChart chart{.title = "forty", .nodes = {}, .arcs = {}, .peak = 1};
  for (std::uint64_t i = 0; i < 40; ++i) {
    chart.nodes.push_back({"redis-prod-eu-west-" + std::to_string(i + 1), 1.0 / 40, 1.0 / 40});
    const std::uint64_t width = ~std::uint64_t{0} / 40;
    arcs.push_back({{Token{i * width}, Token{i == 39 ? ~std::uint64_t{0} : i * width + width - 1}},
                    NodeId{static_cast<std::uint32_t>(i + 1)}});
  }
  chart.arcs = arcs;
  RecordingCanvas canvas;
  draw_ownership(canvas, chart);
  std::vector<std::pair<Point, std::string>> labels;
  for (std::size_t i = 0; i < canvas.texts.size(); ++i) {
    if (canvas.texts[i].contains("…") && canvas.text_points[i].x < 480)
      labels.emplace_back(canvas.text_points[i], canvas.texts[i]);
  }
  EXPECT_GE(labels.size(), 10U) << "at the sides there is room";
  std::set<std::string> different;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    different.insert(labels[i].second);
    for (std::size_t j = 0; j < i; ++j) {
      const double width =
          3.0 * static_cast<double>(characters(labels[i].second) + characters(labels[j].second));
      const bool apart = std::abs(labels[i].first.x - labels[j].first.x) >= width ||
                         std::abs(labels[i].first.y - labels[j].first.y) >= 11;
      EXPECT_TRUE(apart) << labels[i].second << " on " << labels[j].second;
    }
  }
  EXPECT_EQ(different.size(), labels.size());
}

TEST(NodeBars, AmountsReadWell) {
  EXPECT_EQ(amount_text(0.12345, BarUnit::kShare), "12.3 %");
  EXPECT_EQ(amount_text(1'234.6, BarUnit::kKeys), "1,235");
}

TEST(PictureFile, IsWhatItsNameEndsWith) {
  const std::filesystem::path folder = ::testing::TempDir();
  const auto draw = [](Canvas& canvas) { draw_caption(canvas, "t", "s"); };
  const auto first_bytes = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes(4, '\0');
    file.read(bytes.data(), 4);
    std::filesystem::remove(path);
    return bytes;
  };
  ASSERT_TRUE(write_picture(folder / "cleave_ring.svg", "t", draw));
  EXPECT_EQ(first_bytes(folder / "cleave_ring.svg"), "<svg");
  ASSERT_TRUE(write_picture(folder / "cleave_ring.png", "t", draw));
  EXPECT_EQ(first_bytes(folder / "cleave_ring.png"), "\x89PNG");
  EXPECT_EQ(write_picture(folder / "ring.jpg", "t", draw).error().code, Code::kInvalid);
  EXPECT_EQ(write_picture("/nonexistent/ring.svg", "t", draw).error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace cleave::draw
