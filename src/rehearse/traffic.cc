#include "rehearse/traffic.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

Traffic::Traffic(const Options& options, Instant now) : options_(options), rng_(options.seed) {
  CHECK(options.routers > 0);
  for (std::size_t number = 1; number <= options.routers; ++number) {
    routers_.push_back({.session = SessionId{"router-" + std::to_string(number)},
                        .recorder = std::make_unique<heat::Recorder>(rng_.next(), now)});
  }
}

void Traffic::set_scene(const Scene& scene, const Truth& truth) {
  scene_ = &scene;
  truth_ = &truth;
  keys_.reset();
  if (truth.total_load() > 0) keys_.emplace(truth.key_loads());
}

void Traffic::set_view(const ring::RingSnapshot& view, Instant now) {
  CHECK(scene_ != nullptr);
  view_ = view;
  for (Reporter& each : routers_) each.recorder->set_view(view, now);
  places_.clear();
  std::uint32_t at = 0;
  for (const SceneKey& key : scene_->keys) {
    while (view->entries()[at].range.last < key.token) ++at;
    places_.emplace_back(at);
  }
}

std::vector<std::pair<SessionId, heat::Report>> Traffic::serve(nanoseconds time, Instant now) {
  if (keys_) {
    const auto load = static_cast<std::uint64_t>(
        Wide{truth_->total_load()} * static_cast<std::uint64_t>(time.count()) / kSecond);
    const std::uint64_t least = load / std::numeric_limits<std::uint32_t>::max() + 1;
    const std::uint64_t draws = std::max(
        least, std::min<std::uint64_t>(load / options_.request_ns_least, options_.draws_max));
    const auto weight_ns = static_cast<std::uint32_t>(load / draws);
    for (std::uint64_t count = 0; count < draws; ++count) {
      record(*routers_[count % routers_.size()].recorder, weight_ns);
    }
  }
  std::vector<std::pair<SessionId, heat::Report>> reports;
  for (Reporter& each : routers_) {
    for (heat::Report& report : each.recorder->take(now)) {
      reports.emplace_back(each.session, std::move(report));
    }
  }
  return reports;
}

void Traffic::record(heat::Recorder& recorder, std::uint32_t weight_ns) {
  const std::size_t drawn = keys_->draw(rng_);
  const SceneKey& key = scene_->keys[drawn];
  // Of a cached key only the writes come here; of a key that is not there, only reads.
  const bool reads =
      key.bytes == 0 || (!truth_->cached(drawn) && rng_.chance(scene_->read_ppm, 1'000'000));
  recorder.record(places_[drawn], key.token, key.name,
                  reads ? heat::Access::kRead : heat::Access::kWrite, weight_ns);
}

}  // namespace cleave::rehearse
