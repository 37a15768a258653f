// Space-Saving: the heaviest keys of a stream in fixed memory (Metwally, Agrawal, El Abbadi, ICDT
// 2005). With k = 64 counters every key above 1/64 of the total weight is found, and no weight is
// overestimated by more than 1/64 of the total.
//
// Threads: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "heat/report.h"

namespace cleave::heat {

class SpaceSaving {
 public:
  static constexpr std::size_t kCounters = 64;
  static constexpr std::size_t kKeyBytesMax = 128;  // of a longer key the beginning is kept

  // Cost: two scans of 64 numbers, about 50 ns: for sampled requests, not for every one.
  void add(std::string_view key, Token token, std::uint64_t weight);

  // Keys whose weight is certain to be above zero, heaviest first, at most `count_max`.
  std::vector<HotKey> top(NodeId node, std::size_t count_max) const;

  void clear() { used_ = 0; }

 private:
  struct Name {
    std::string key;
    Token token;
  };

  std::size_t used_ = 0;
  // Apart from the names, so that a scan reads 8 cache lines.
  std::array<std::uint64_t, kCounters> hashes_{};
  std::array<std::uint64_t, kCounters> weights_{};
  std::array<std::uint64_t, kCounters> errors_{};
  std::array<Name, kCounters> names_{};
};

}  // namespace cleave::heat
