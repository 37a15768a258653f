#include "rehearse/workloads/workloads.h"

#include "base/rng.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint32_t kItemOverhead = 60;  // what a server adds to a key and its value

Setting with_sizes(Setting setting, const TwitterRow& row) {
  const std::uint64_t bytes = std::uint64_t{row.key_bytes} + row.value_bytes;
  if (bytes > 0) setting.bytes = bytes + kItemOverhead;
  return setting;
}

}  // namespace

ZipfWorkload::ZipfWorkload(const Setting& setting, const Shape& shape)
    : setting_(setting), shape_(shape) {
  Rng rng(setting.seed);
  order_ = random_order(setting.keys, rng);
}

Change ZipfWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  scene.keys = make_keys(setting_.keys, setting_.bytes);
  scene.load = load_of(setting_.nodes, shape_.utilisation_ppm);
  spread(scene, 0);
  return {.loads = true, .turn = true};
}

void ZipfWorkload::spread(Scene& scene, std::size_t shift) const {
  if (shape_.exponent == 0) return set_uniform(scene);
  for (std::size_t rank = 0; rank < order_.size(); ++rank) {
    const std::uint32_t key = order_[(rank + shift) % order_.size()];
    scene.keys[key].weight = zipf_weight(rank, shape_.exponent);
  }
}

TwitterWorkload::TwitterWorkload(const Setting& setting, const TwitterRow& row)
    : ZipfWorkload(with_sizes(setting, row), {.exponent = row.exponent_e4 / 1e4}), row_(row) {}

Change TwitterWorkload::set(seconds at, Scene& scene) {
  scene.read_ppm = 1'000'000 - row_.write_ppm;
  return ZipfWorkload::set(at, scene);
}

}  // namespace cleave::rehearse
