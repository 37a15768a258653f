// Workloads on equal nodes with keys that are popular by Zipf's law: as it is, or as it was at one
// of Twitter's clusters. For make_workload.
//
// Threads: one owner each.
#pragma once

#include <vector>

#include "rehearse/workloads/twitter_rows.h"
#include "rehearse/workloads/workload.h"

namespace cleave::rehearse {

// What most workloads begin with: the ranks lie on keys in random order.
class ZipfWorkload : public Workload {
 public:
  struct Shape {
    double exponent = 0;                      // 0 is uniform
    std::uint32_t utilisation_ppm = 400'000;  // of all capacity: a pool in good health
  };
  ZipfWorkload(const Setting& setting, const Shape& shape);

  std::vector<NodeSpec> nodes() const override { return equal_nodes(setting_.nodes); }
  Change set(seconds at, Scene& scene) override;

 protected:
  const Setting& setting() const { return setting_; }
  const Shape& shape() const { return shape_; }
  // Key of each rank.
  const std::vector<std::uint32_t>& order() const { return order_; }
  // The ranks lie on the keys that stand so many places further on in the order.
  void spread(Scene& scene, std::size_t shift) const;

 private:
  Setting setting_;
  Shape shape_;
  std::vector<std::uint32_t> order_;
};

// A row of Twitter's table: its sizes, exponent and share of writes, at the usual utilisation.
class TwitterWorkload final : public ZipfWorkload {
 public:
  TwitterWorkload(const Setting& setting, const TwitterRow& row);

  Change set(seconds at, Scene& scene) override;

 private:
  TwitterRow row_;
};

}  // namespace cleave::rehearse
