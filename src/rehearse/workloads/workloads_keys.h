// Workloads with keys that are out of the common: for make_workload.
//
// Threads: one owner each.
#pragma once

#include <cstdint>
#include <vector>

#include "rehearse/workloads/workloads.h"

namespace cleave::rehearse {

// Uniform; within an hour the keys become twice as many, and the load grows with them.
class GrowthWorkload final : public ZipfWorkload {
 public:
  explicit GrowthWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  seconds duration() const override { return seconds{3'600}; }
  seconds step() const override { return seconds{2}; }
  bool rests() const override { return false; }
  Change set(seconds at, Scene& scene) override;

 private:
  std::size_t born_ = 0;
};

// Uniform, and three parts in ten of the load ask in vain for names that lie in a stretch with next
// to no keys: much load, nothing to move (what TiKV's split by keys could not see).
class NegativeWorkload final : public ZipfWorkload {
 public:
  explicit NegativeWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  Change set(seconds at, Scene& scene) override;
};

// Uniform, but for two keys of one node with so many hundredths of all load each: they must be
// parted, and no light key around them needs to move for that.
class TwinsWorkload final : public ZipfWorkload {
 public:
  TwinsWorkload(const Setting& setting, double per_cent)
      : ZipfWorkload(setting, {}), per_cent_(per_cent) {}

  Change set(seconds at, Scene& scene) override;

 private:
  double per_cent_;
};

// Half of the keys, and half of the load, are of 400 hash tags, which are popular by Zipf's law:
// fifty keys of one token each that can never be cut apart.
class TagsWorkload final : public ZipfWorkload {
 public:
  explicit TagsWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  Change set(seconds at, Scene& scene) override;
};

// Uniform load, but sizes by Zipf's law, and nodes whose memory is twice what they hold on average.
class BytesWorkload final : public ZipfWorkload {
 public:
  explicit BytesWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  std::vector<NodeSpec> nodes() const override;
  seconds duration() const override { return seconds{3'600}; }
  seconds step() const override { return seconds{2}; }
  Change set(seconds at, Scene& scene) override;
};

}  // namespace cleave::rehearse
