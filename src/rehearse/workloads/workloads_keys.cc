#include "rehearse/workloads/workloads_keys.h"

#include "rehearse/workloads/pool.h"

#include <algorithm>

#include "base/wide.h"

namespace cleave::rehearse {
namespace {

constexpr seconds kGrowsEvery{20};

constexpr std::size_t kAbsentNames = 128;
constexpr unsigned kStretchShift = 52;  // the stretch: one 4096th of all tokens

constexpr std::size_t kTags = 400;
constexpr double kTagExponent = 0.99;

constexpr double kSizeExponent = 0.9;

// Names whose tokens lie in the stretch that `inside` lies in.
std::vector<SceneKey> absent_names(Token inside) {
  std::vector<SceneKey> names;
  for (std::size_t number = 0; names.size() < kAbsentNames; ++number) {
    SceneKey key = make_key("absent:" + std::to_string(number), 0);
    if (key.token.value() >> kStretchShift != inside.value() >> kStretchShift) continue;
    names.push_back(std::move(key));
  }
  return names;
}

}  // namespace

Change GrowthWorkload::set(seconds at, Scene& scene) {
  if (at == seconds{0}) {
    ZipfWorkload::set(at, scene);
    for (SceneKey& key : scene.keys) key = {.name = key.name, .token = key.token};
  }
  if (at % kGrowsEvery != seconds{0}) return {};
  const std::size_t all = order().size();
  const auto parts = static_cast<std::size_t>(duration().count());
  const std::size_t wanted = all / 2 + all / 2 * static_cast<std::size_t>(at.count()) / parts;
  for (; born_ < std::max<std::size_t>(wanted, 1); ++born_) {
    SceneKey& key = scene.keys[order()[born_]];
    key.bytes = setting().bytes;
    key.weight = kUsualWeight;
  }
  scene.load = static_cast<std::uint64_t>(Wide{load_of(setting().nodes, shape().utilisation_ppm)} *
                                          born_ / all);
  return {.loads = true, .turn = at == seconds{0}};
}

Change NegativeWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  ZipfWorkload::set(at, scene);
  for (SceneKey& name : absent_names(scene.keys[order().front()].token)) {
    name.weight = kUsualWeight * setting().keys * 3 / (7 * kAbsentNames);
    scene.keys.push_back(std::move(name));
  }
  sort_keys(scene.keys);
  return {.loads = true, .turn = true};
}

Change TagsWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  ZipfWorkload::set(at, scene);
  const std::size_t tagged = setting().keys / 2;
  scene.keys = make_keys(setting().keys - tagged, setting().bytes);
  std::uint64_t all = 0;
  for (std::size_t number = 0; number < tagged; ++number) {
    const std::size_t tag = number % kTags;
    scene.keys.push_back(make_key(
        "{tag:" + std::to_string(order()[tag]) + "}:" + std::to_string(number), setting().bytes));
    scene.keys.back().weight = zipf_weight(tag, kTagExponent) / tagged;
    all += scene.keys.back().weight;
  }
  for (SceneKey& key : scene.keys) {
    if (key.weight == 0) key.weight = all / (setting().keys - tagged);
  }
  sort_keys(scene.keys);
  return {.loads = true, .turn = true};
}

Change TwinsWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  ZipfWorkload::set(at, scene);
  Pool pool(nodes(), UnixMillis{1}, scheme());
  const auto owner = [&](std::uint32_t key) { return pool.view()->owner(scene.keys[key].token); };
  const auto first = order().begin();
  const auto second = std::find_if(first + 1, order().end(),
                                   [&](std::uint32_t key) { return owner(key) == owner(*first); });
  // Of n keys of weight w, and two of k more each: k / (n w + 2 k) is their share.
  const double others = static_cast<double>(scene.keys.size()) * static_cast<double>(kUsualWeight);
  const auto extra = static_cast<std::uint64_t>(others * per_cent_ / (100 - 2 * per_cent_));
  scene.keys[*first].weight += extra;
  if (second != order().end()) scene.keys[*second].weight += extra;
  return {.loads = true, .turn = true};
}

std::vector<NodeSpec> BytesWorkload::nodes() const {
  std::vector<NodeSpec> nodes = equal_nodes(setting().nodes);
  for (NodeSpec& node : nodes) {
    node.memory_bytes_max = 2 * setting().keys * setting().bytes / nodes.size();
  }
  return nodes;
}

Change BytesWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  ZipfWorkload::set(at, scene);
  Wide weights = 0;
  for (std::size_t rank = 0; rank < order().size(); ++rank) {
    weights += zipf_weight(rank, kSizeExponent);
  }
  const Wide bytes = Wide{setting().keys} * setting().bytes;
  for (std::size_t rank = 0; rank < order().size(); ++rank) {
    const Wide own = bytes * zipf_weight(rank, kSizeExponent) / weights;
    scene.keys[order()[rank]].bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(own));
  }
  return {.loads = true, .turn = true};
}

}  // namespace cleave::rehearse
