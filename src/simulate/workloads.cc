#include "simulate/workloads.h"

#include "base/rng.h"

namespace cleave::simulate {

ZipfWorkload::ZipfWorkload(const Setting& setting, double exponent, std::uint32_t utilisation_ppm)
    : setting_(setting), exponent_(exponent), utilisation_ppm_(utilisation_ppm) {
  Rng rng(setting.seed);
  order_ = random_order(setting.keys, rng);
}

Change ZipfWorkload::set(seconds at, Scene& scene) {
  if (at != seconds{0}) return {};
  scene.keys = make_keys(setting_.keys, setting_.bytes);
  scene.load = load_of(setting_.nodes, utilisation_ppm_);
  spread(scene, 0);
  return {.loads = true, .turn = true};
}

void ZipfWorkload::spread(Scene& scene, std::size_t shift) const {
  for (std::size_t rank = 0; rank < order_.size(); ++rank) {
    const std::uint32_t key = order_[(rank + shift) % order_.size()];
    scene.keys[key].weight = zipf_weight(rank, exponent_);
  }
}

}  // namespace cleave::simulate
