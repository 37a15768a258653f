#include "sim/world/demand.h"

#include <utility>

#include "base/check.h"

namespace cleave::sim {

Demand::Demand(const DemandOptions& options) : options_(options) {
  auto made = rehearse::make_workload(
      options.workload, {.nodes = options.nodes, .keys = options.keys, .seed = options.seed});
  CHECK(made.has_value());
  workload_ = std::move(*made);
  (void)workload_->set(seconds{0}, scene_);
  for (const rehearse::SceneKey& key : scene_.keys) keys_.push_back(key.name);
  go_to(options.from);
}

const std::string& Demand::draw(Rng& rng, Instant now) {
  go_to(options_.from + options_.speed * (now / seconds{1}));
  return keys_[table_->draw(rng)];
}

// Workloads see every one of their steps.
void Demand::go_to(seconds at) {
  bool changed = !table_.has_value();
  while (at_ + workload_->step() <= at) {
    at_ += workload_->step();
    changed = workload_->set(at_, scene_).loads || changed;
  }
  if (!changed) return;
  std::vector<std::uint64_t> weights;
  std::uint64_t sum = 0;
  for (const rehearse::SceneKey& key : scene_.keys) {
    weights.push_back(key.weight >> 8U);  // so that their sum stays small enough
    sum += weights.back();
  }
  // Nobody asks for anything: then for everything alike.
  if (sum == 0) weights.assign(weights.size(), 1);
  table_.emplace(weights);
}

}  // namespace cleave::sim
