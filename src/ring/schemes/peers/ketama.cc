#include "ring/schemes/peers/ketama.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ring/schemes/hashes/md5_lanes.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/numbered_text.h"

namespace cleave::ring {

std::vector<std::uint32_t> ketama_counts(std::span<const PlacedNode> nodes) {
  const auto total = static_cast<float>(weight_sum(nodes));
  const auto count = static_cast<float>(nodes.size());
  std::vector<std::uint32_t> counts;
  counts.reserve(nodes.size());
  for (const PlacedNode& node : nodes) {
    const float share = static_cast<float>(node.weight) / total;
    const float of_one = share * static_cast<float>(kKetamaTexts);
    const float texts = of_one * count;
    // The constant is a double: the sum is one too, and then shortened.
    const auto mended = static_cast<float>(static_cast<double>(texts) + 0.0000000001);
    counts.push_back(static_cast<std::uint32_t>(std::floor(mended)));
  }
  return counts;
}

std::vector<std::uint32_t> npm_counts(std::span<const PlacedNode> nodes, std::uint64_t texts) {
  const auto total = static_cast<double>(weight_sum(nodes));
  const auto count = static_cast<double>(nodes.size());
  std::vector<std::uint32_t> counts;
  counts.reserve(nodes.size());
  for (const PlacedNode& node : nodes) {
    const double share = node.weight / total;
    const double of_one = share * static_cast<double>(texts);
    counts.push_back(static_cast<std::uint32_t>(std::floor(of_one * count)));
  }
  return counts;
}

void add_md5_points(const DigestPoints& added, std::vector<CirclePoint>& points) {
  NumberedText text(std::string(added.stem) + "-");
  std::array<std::string, kMd5Lanes> texts;
  std::array<std::string_view, kMd5Lanes> views;
  std::array<Md5, kMd5Lanes> digests;
  for (std::uint32_t done = 0; done < added.texts;) {
    const std::size_t some = std::min<std::size_t>(kMd5Lanes, added.texts - done);
    for (std::size_t i = 0; i < some; ++i, text.next()) views[i] = texts[i] = text.text();
    md5_many(std::span(views).first(some), std::span(digests).first(some));
    for (const Md5& digest : std::span(digests).first(some)) add_words(digest, added, points);
    done += static_cast<std::uint32_t>(some);
  }
}

HostPort host_port(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == name.size()) return {name, {}};
  const std::string_view port = name.substr(colon + 1);
  const bool digits = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? HostPort{name.substr(0, colon), port} : HostPort{name, {}};
}

std::string_view without_port(std::string_view name, std::string_view port) {
  const HostPort parts = host_port(name);
  return parts.port == port ? parts.host : name;
}

std::string with_port(std::string_view name, std::string_view port) {
  std::string text(name);
  if (host_port(name).port.empty()) text += ":" + std::string(port);
  return text;
}

}  // namespace cleave::ring
