#include "rehearse/workloads/workloads_changing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cleave::rehearse {
namespace {

constexpr seconds kFlashBegins{120};
// A turn at least so often where the load changes all the time.
constexpr seconds kTurnEvery{1'800};

constexpr std::size_t kGroups = 3;
constexpr double kDay = 86'400;
constexpr double kSunriseApart = 3 * 3'600;
constexpr seconds kDiurnalEvery{60};

constexpr seconds kHalfWave{8};  // 3 of 5 ticks of 2 s notice it just then
constexpr std::size_t kWaveKeys = 12;

}  // namespace

Change FlashWorkload::set(seconds at, Scene& scene) {
  if (at == seconds{0}) return ZipfWorkload::set(at, scene);
  if (at != kFlashBegins) return {};
  // The others keep what they had: with three parts in ten more, all is ten sevenths of it.
  SceneKey& key = scene.keys[order().front()];
  key.weight = key.weight * scene.keys.size() * 3 / 7;
  scene.load = load_of(setting().nodes, shape().utilisation_ppm) * 10 / 7;
  return {.loads = true, .turn = true};
}

seconds ShiftWorkload::duration() const {
  const seconds few = period_ * 7 / 2;
  return std::max(few, seconds{1'200});
}

Change ShiftWorkload::set(seconds at, Scene& scene) {
  if (at == seconds{0}) return ZipfWorkload::set(at, scene);
  if (at % period_ != seconds{0}) return {};
  // A part of the keys that does not come round within any run.
  const std::size_t apart = std::max<std::size_t>(order().size() / 101, 1);
  spread(scene, static_cast<std::size_t>(at / period_) * apart);
  return {.loads = true, .turn = true};
}

Change DiurnalWorkload::set(seconds at, Scene& scene) {
  if (at == seconds{0}) {
    ZipfWorkload::set(at, scene);
    for (const SceneKey& key : scene.keys) means_.push_back(key.weight);
  }
  if (at % kDiurnalEvery != seconds{0}) return {};
  double before = 0;
  double now = 0;
  for (std::size_t key = 0; key < means_.size(); ++key) {
    const double when =
        static_cast<double>(at.count()) - kSunriseApart * static_cast<double>(key % kGroups);
    const double height = 1 + std::sin(2 * std::numbers::pi * when / kDay) / 2;
    const double weight = static_cast<double>(means_[key]) * height;
    scene.keys[key].weight = static_cast<std::uint64_t>(weight);
    before += static_cast<double>(means_[key]);
    now += weight;
  }
  const double mean = static_cast<double>(load_of(setting().nodes, shape().utilisation_ppm));
  scene.load = static_cast<std::uint64_t>(mean * now / before);
  return {.loads = true, .turn = at % kTurnEvery == seconds{0}};
}

Change SquareWorkload::set(seconds at, Scene& scene) {
  if (at == seconds{0}) return ZipfWorkload::set(at, scene);
  if (at % kHalfWave != seconds{0}) return {};
  const bool high = at / kHalfWave % 2 == 1;
  const std::size_t count = std::min(kWaveKeys, scene.keys.size());
  const std::size_t first = order().front() % (scene.keys.size() - count + 1);
  // Together they are worth one and a half nodes: theirs is then at two and a half times the mean.
  const std::uint64_t extra = kUsualWeight * scene.keys.size() * 3 /
                              (2 * setting().nodes * std::max<std::size_t>(count, 1));
  for (std::size_t key = first; key < first + count; ++key) {
    scene.keys[key].weight = kUsualWeight + (high ? extra : 0);
  }
  const std::uint64_t mean = load_of(setting().nodes, shape().utilisation_ppm);
  scene.load = high ? mean + mean * 3 / (2 * setting().nodes) : mean;
  return {.loads = true, .turn = at == kHalfWave};
}

}  // namespace cleave::rehearse
