// Keys: their names, and how popular each is.
//
//   rank    0 1 2 3 4 ...            popularity by Zipf: rank 0 is drawn most often
//   order   the keys that pass the filter first, then the others, each by index
//   shift   after each period the ranks move on by a quarter of the keys: another set is hot
//
// With a filter (say: "lies in this node's ranges") the hot set falls where it is wanted.
//
// Threads: immutable after construction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "loadgen/zipf.h"

namespace cleave::loadgen {

class Keys {
 public:
  struct Options {
    std::uint32_t count = 100'000;
    std::uint32_t zipf_thousandths = 0;                     // the exponent; 0 = uniform
    std::string prefix = "key:";                            // followed by 12 digits
    std::function<std::string(std::uint32_t)> name = {};    // instead of the prefix
    std::function<bool(std::string_view)> hot_filter = {};  // names that shall be hot; empty: any
  };

  // Requires: count > 0. Cost: O(count), and the filter once for each name.
  explicit Keys(Options options);

  std::uint32_t count() const { return options_.count; }
  void append_name(std::uint32_t key, std::string& out) const;
  std::string name(std::uint32_t key) const;

  // A key by its popularity after `shifts` periods.
  std::uint32_t draw(Rng& rng, std::uint64_t shifts) const;
  std::uint32_t at_rank(std::size_t rank, std::uint64_t shifts) const;

  // Probability of each key, by index, in units of 2^-64. Cost: O(count).
  std::vector<std::uint64_t> shares(std::uint64_t shifts) const;

 private:
  Options options_;
  Zipf zipf_;
  std::vector<std::uint32_t> order_;  // rank -> key; empty: the same
};

}  // namespace cleave::loadgen
