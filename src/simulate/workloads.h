// Workloads whose load is what it is, from the first second on. For make_workload.
//
// Threads: one owner each.
#pragma once

#include <vector>

#include "simulate/workload.h"

namespace cleave::simulate {

// Keys on equal nodes, popular by Zipf's law in random order: what most workloads begin with.
class ZipfWorkload : public Workload {
 public:
  // Exponent 0 is uniform.
  ZipfWorkload(const Setting& setting, double exponent, std::uint32_t utilisation_ppm);

  std::vector<NodeSpec> nodes() const override { return equal_nodes(setting_.nodes); }
  Change set(seconds at, Scene& scene) override;

 protected:
  const Setting& setting() const { return setting_; }
  // Key of each rank.
  const std::vector<std::uint32_t>& order() const { return order_; }
  // The rank r gets what rank r + `shift` had, round and round.
  void spread(Scene& scene, std::size_t shift) const;

 private:
  Setting setting_;
  double exponent_;
  std::uint32_t utilisation_ppm_;
  std::vector<std::uint32_t> order_;
};

}  // namespace cleave::simulate
