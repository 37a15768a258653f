#include "rehearse/workloads/truth.h"

#include <algorithm>
#include <numeric>

#include "base/ppm.h"
#include "base/wide.h"
#include "ring/width.h"

namespace cleave::rehearse {
namespace {

std::uint64_t reads_of(const SceneKey& key, const Scene& scene) {
  if (key.bytes == 0) return 0;  // nothing there to cache
  return static_cast<std::uint64_t>(Wide{key.weight} * scene.read_ppm / kMillion);
}

}  // namespace

void Truth::set(const Scene& scene) {
  choose_cached(scene);
  Wide weights = 0;
  for (const SceneKey& key : scene.keys) weights += key.weight;
  loads_.assign(scene.keys.size(), 0);
  for (std::size_t at = 0; at < loads_.size() && weights > 0; ++at) {
    const SceneKey& key = scene.keys[at];
    const std::uint64_t asked = key.weight - (cached_[at] ? reads_of(key, scene) : 0);
    loads_[at] = static_cast<std::uint64_t>(Wide{asked} * scene.load / weights);
  }
  sum(scene);
}

void Truth::choose_cached(const Scene& scene) {
  cached_.assign(scene.keys.size(), false);
  const std::size_t count = std::min(options_.cached_keys, scene.keys.size());
  if (count == 0) return;
  std::vector<std::uint32_t> hottest(scene.keys.size());
  std::iota(hottest.begin(), hottest.end(), 0U);
  const auto end = hottest.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(hottest, end, [&](std::uint32_t left, std::uint32_t right) {
    const std::uint64_t left_reads = reads_of(scene.keys[left], scene);
    const std::uint64_t right_reads = reads_of(scene.keys[right], scene);
    return left_reads != right_reads ? left_reads > right_reads : left < right;
  });
  for (auto key = hottest.begin(); key != end; ++key) cached_[*key] = true;
}

void Truth::sum(const Scene& scene) {
  tokens_.clear();
  before_.assign(1, {});
  atoms_.clear();
  for (std::size_t at = 0; at < loads_.size(); ++at) {
    const SceneKey& key = scene.keys[at];
    tokens_.push_back(key.token);
    before_.push_back(before_.back());
    const std::uint64_t exists = key.bytes > 0 ? 1 : 0;
    before_.back() += {.load = loads_[at], .keys = exists, .bytes = key.bytes};
    if (loads_[at] == 0) continue;
    if (atoms_.empty() || atoms_.back().token != key.token) atoms_.push_back({.token = key.token});
    atoms_.back().load += loads_[at];
    atoms_.back().keys += exists;
  }
  total_ = before_.back();
}

std::vector<Truth::Atom> Truth::byte_atoms() const {
  std::vector<Atom> atoms;
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const std::uint64_t bytes = before_[at + 1].bytes - before_[at].bytes;
    if (bytes == 0) continue;
    if (atoms.empty() || atoms.back().token != tokens_[at]) atoms.push_back({.token = tokens_[at]});
    atoms.back().load += bytes;
    ++atoms.back().keys;
  }
  return atoms;
}

Amount Truth::in(const ring::TokenRange& range) const {
  const auto first = std::ranges::lower_bound(tokens_, range.first) - tokens_.begin();
  const auto last = std::ranges::upper_bound(tokens_, range.last) - tokens_.begin();
  const Amount& low = before_[static_cast<std::size_t>(first)];
  const Amount& high = before_[static_cast<std::size_t>(last)];
  const auto cold =
      static_cast<std::uint64_t>((ring::width(range) >> 1U) * options_.cold.count >> 63U);
  return {.load = high.load - low.load,
          .keys = high.keys - low.keys + cold,
          .bytes = high.bytes - low.bytes + cold * options_.cold.bytes_each};
}

Amount Truth::in(std::span<const ring::TokenRange> ranges) const {
  Amount sum;
  for (const ring::TokenRange& range : ranges) sum += in(range);
  return sum;
}

}  // namespace cleave::rehearse
