#include "rehearse/workloads/scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ring/hash_tag.h"
#include "ring/vnode.h"

namespace cleave::rehearse {
namespace {

constexpr double kWeightOfFirst = 1125899906842624.0;  // 2^50

}  // namespace

SceneKey make_key(std::string name, std::uint64_t bytes) {
  SceneKey key{.name = std::move(name), .bytes = bytes};
  key.token = ring::vnode_token(ring::hash_tag(key.name));
  return key;
}

std::vector<SceneKey> make_keys(std::size_t count, std::uint64_t bytes) {
  std::vector<SceneKey> keys;
  keys.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    keys.push_back(make_key("key:" + std::to_string(number), bytes));
  }
  sort_keys(keys);
  return keys;
}

void sort_keys(std::vector<SceneKey>& keys) {
  std::ranges::sort(keys, [](const SceneKey& left, const SceneKey& right) {
    return left.token != right.token ? left.token < right.token : left.name < right.name;
  });
}

std::vector<std::uint32_t> random_order(std::size_t count, Rng& rng) {
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t at = 0; at < count; ++at) order[at] = at;
  for (std::size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[rng.below(left)]);
  return order;
}

void set_uniform(Scene& scene) {
  for (SceneKey& key : scene.keys) key.weight = kUsualWeight;
}

std::uint64_t zipf_weight(std::size_t rank, double exponent) {
  const double weight = kWeightOfFirst / std::pow(static_cast<double>(rank + 1), exponent);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(weight));
}

}  // namespace cleave::rehearse
