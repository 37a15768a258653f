// Workloads whose load changes while the nodes stay: for make_workload.
//
// Threads: one owner each.
#pragma once

#include <vector>

#include "rehearse/workloads/workloads.h"

namespace cleave::rehearse {

// Uniform; then one key gets 30 % of all load from one second to the next.
class FlashWorkload final : public ZipfWorkload {
 public:
  explicit FlashWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  Change set(seconds at, Scene& scene) override;
};

// By Zipf's law, on other keys after each period.
class ShiftWorkload final : public ZipfWorkload {
 public:
  // Requires: a period above 0.
  ShiftWorkload(const Setting& setting, seconds period)
      : ZipfWorkload(setting, {.exponent = 0.99}), period_(period) {}

  seconds duration() const override;
  seconds step() const override { return period_ < kLong ? seconds{1} : seconds{2}; }
  bool rests() const override { return false; }
  Change set(seconds at, Scene& scene) override;

 private:
  static constexpr seconds kLong{1'800};

  seconds period_;
};

// A day: three groups of keys, three hours of sunrise apart, each between half and one and a half
// times its mean.
class DiurnalWorkload final : public ZipfWorkload {
 public:
  explicit DiurnalWorkload(const Setting& setting) : ZipfWorkload(setting, {.exponent = 0.99}) {}

  seconds duration() const override { return seconds{86'400}; }
  seconds step() const override { return seconds{20}; }
  bool rests() const override { return false; }
  Change set(seconds at, Scene& scene) override;

 private:
  std::vector<std::uint64_t> means_;  // weights of the keys
};

// Uniform, and a few neighbouring keys that make their node hot for about as long as it takes to
// notice, are cold for as long, and so on: made to mislead whoever acts on what he saw last.
class SquareWorkload final : public ZipfWorkload {
 public:
  explicit SquareWorkload(const Setting& setting) : ZipfWorkload(setting, {}) {}

  bool rests() const override { return false; }
  Change set(seconds at, Scene& scene) override;
};

}  // namespace cleave::rehearse
