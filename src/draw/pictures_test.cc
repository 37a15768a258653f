#include "draw/pictures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fstream>
#include <iterator>

#include "draw/charts.h"
#include "draw/frame.h"
#include "draw/record_testing.h"
#include "draw/svg_canvas.h"

namespace cleave::draw {
namespace {

// Without the PNG files, which take most of the time.
std::vector<std::string> svgs(const rehearse::Record& record) {
  std::vector<std::string> documents;
  for (const auto draw : {draw_loads, draw_heat, draw_peak}) {
    SvgCanvas canvas(kWidth, kHeight, "test");
    draw(canvas, record);
    documents.push_back(canvas.document());
  }
  return documents;
}

// Every element is closed, in order; attributes are quoted. Enough for what we write ourselves.
bool well_formed(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    const std::size_t begin = text.find('<');
    if (begin == std::string_view::npos) break;
    if (text.substr(0, begin).find('>') != std::string_view::npos) return false;
    const std::size_t end = text.find('>', begin);
    if (end == std::string_view::npos) return false;
    const std::string_view tag = text.substr(begin + 1, end - begin - 1);
    if (std::ranges::count(tag, '"') % 2 != 0) return false;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.emplace_back(tag.substr(0, tag.find(' ')));
    }
    text.remove_prefix(end + 1);
  }
  return open.empty();
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t each = 0; each < 4; ++each) {
    value = value << 8U | static_cast<unsigned char>(bytes[at + each]);
  }
  return value;
}

TEST(Pictures, AreWellFormedSvg) {
  for (const std::string& each : svgs(test_record())) {
    EXPECT_TRUE(well_formed(each));
    EXPECT_TRUE(each.starts_with("<svg xmlns="));
    EXPECT_EQ(each.find("nan"), std::string::npos);
    EXPECT_EQ(each.find("inf"), std::string::npos);
  }
}

TEST(Pictures, ArePngOfTwiceTheSizeAndAlwaysTheSameBytes) {
  const auto first = pictures_of(test_record());
  const auto second = pictures_of(test_record());
  ASSERT_TRUE(first.has_value() && second.has_value());
  for (std::size_t at = 0; at < first->size(); ++at) {
    const Picture& each = (*first)[at];
    EXPECT_EQ(each.png.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(big_endian(each.png, 16), 2'000U);
    EXPECT_EQ(big_endian(each.png, 20), 1'120U);
    EXPECT_EQ(each.svg, (*second)[at].svg);
    EXPECT_EQ(each.png, (*second)[at].png);
  }
}

TEST(Pictures, SayWhichRunTheyShow) {
  for (const std::string& each : svgs(test_record())) {
    const std::string run = "zipf:0.99, policy cleave, seed 7 (8 nodes, 40,000 keys)";
    EXPECT_NE(each.find(run), std::string::npos);
  }
}

// All that happens does so in the first 2 % of the run.
TEST(Pictures, ALongCalmEndIsNotDrawn) {
  rehearse::Record record = test_record();
  for (rehearse::Moment& moment : record.moments) moment.at *= 30;
  record.cuts.clear();
  for (rehearse::Moment& moment : record.moments) moment.node_load[7] = 1;
  const auto pictures = pictures_of(record);
  ASSERT_TRUE(pictures);
  for (const Picture& each : *pictures) {
    EXPECT_NE(each.svg.find("zipf:0.99, first 188 of 18,000 s"), std::string::npos) << each.name;
  }
}

TEST(Pictures, HaveAxesWithUnitsAndALegend) {
  const std::array<std::vector<std::string>, 3> wanted{
      {{"server time in use (% of a node's capacity)", "time since the start (min)", ">n3<",
        "3 other nodes", "fair share", "hot: 1.5 x fair"},
       {"token (its first two hexadecimal digits)", "time since the start (min)", "times the mean",
        "a cut (white)", "data:image/png;base64,"},
       {"highest load / fair load of a node", "time since the start (min)", "peak over mean",
        "bound: no placement", "300 keys moved", "(0.8 % of all)"}}};
  const std::vector<std::string> drawn = svgs(test_record());
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    for (const std::string& text : wanted[at]) {
      EXPECT_NE(drawn[at].find(text), std::string::npos) << text;
    }
  }
}

TEST(Pictures, WhateverAWorkloadIsCalledStaysText) {
  rehearse::Record record = test_record();
  record.workload = "<script>\"&\x01";
  for (const std::string& each : svgs(record)) {
    EXPECT_TRUE(well_formed(each));
    EXPECT_NE(each.find("&lt;script&gt;&quot;&amp; ,"), std::string::npos);
  }
}

TEST(Pictures, APoolWithoutLoadOrCapacityCanBeDrawn) {
  rehearse::Record record = test_record();
  for (rehearse::RecordedNode& each : record.nodes) each.capacity = 0;
  for (rehearse::Moment& each : record.moments) {
    each = {.at = each.at, .node_load = std::vector<std::uint64_t>(record.nodes.size())};
  }
  record.moments.resize(1);
  for (const std::string& each : svgs(record)) EXPECT_TRUE(well_formed(each));
}

TEST(Pictures, ThousandsOfNodesStayReadable) {
  rehearse::Record record = test_record();
  for (std::size_t node = record.nodes.size(); node < 1'000; ++node) {
    record.nodes.push_back(record.nodes[0]);
    for (rehearse::Moment& each : record.moments) each.node_load.push_back(each.node_load[0]);
  }
  EXPECT_NE(svgs(record)[0].find("995 other nodes"), std::string::npos);
}

TEST(Pictures, AnEmptyRecordIsAnError) {
  EXPECT_EQ(pictures_of({}).error().code, Code::kInvalid);
  rehearse::Record record = test_record();
  record.moments[3].node_load.pop_back();
  EXPECT_EQ(pictures_of(record).error().code, Code::kInvalid);
}

TEST(DrawAll, WritesSixFilesAndSaysWhereItCannot) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / "cleave_pictures_test" / "inner";
  ASSERT_TRUE(draw_all(test_record(), directory).has_value());
  for (const char* name :
       {"loads.svg", "loads.png", "heat.svg", "heat.png", "peak.svg", "peak.png"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / name)) << name;
  }
  std::ifstream file(directory / "peak.svg", std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(well_formed(read));
  EXPECT_TRUE(read.ends_with("</svg>\n"));
  const auto refused = draw_all(test_record(), directory / "peak.svg" / "below");
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  std::filesystem::remove_all(directory.parent_path());
}

TEST(Axes, TicksAreRoundAndCoverTheData) {
  const Axis amount = amount_axis(1, 1.93, "x");
  EXPECT_EQ(amount.ticks.front().label, "1.0");
  EXPECT_EQ(amount.ticks.back().label, "2.0");
  EXPECT_EQ(amount_axis(0, 0.004, "x").ticks[1].label, "0.001");
  EXPECT_EQ(time_axis(seconds{600}).name, "time since the start (min)");
  EXPECT_EQ(time_axis(seconds{90'000}).name, "time since the start (h)");
  EXPECT_EQ(time_axis(seconds{0}).ticks.front().label, "0");
}

}  // namespace
}  // namespace cleave::draw
