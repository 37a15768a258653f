// DirtySet: the keys of a moving range that writes have finished on since the last batch
// (protocol rule 10). A worker has one for each move; the control side joins theirs.
//
// Of a key that is copied in pieces a write may be noted by its elements (rule 27).
//
// Bounded: elements that do not fit turn into their whole key, and keys that do not into "the whole
// range", at which a move aborts. Too much is always safe to say, too little never.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "peer/router_peer.h"

namespace cleave::proxy {

class DirtySet {
 public:
  // Requires: keys_max > 0. The bytes of the keys are bounded too, at kBytesPerKey for each.
  explicit DirtySet(std::size_t keys_max) : keys_max_(keys_max) {}

  static constexpr std::size_t kBytesPerKey = 256;

  // Cost: a hash; an allocation only when the key is new. A hot key costs one place.
  void add(std::string_view key);
  // Elements of it only; none: as a whole.
  void add(std::string_view key, std::span<const std::string> elements);
  void add_whole_range();
  // As a mutant: elements hide what was noted of their key.
  void add_hiding(std::string_view key, std::span<const std::string> elements);
  // Everything of a batch; its number does not matter.
  void add(const peer::DirtyBatch& batch);

  std::size_t size() const { return keys_.size() + elements_count_; }
  bool whole_range() const { return whole_range_; }

  // What was added since the last `take`, in the order of the keys' bytes; the set is empty then.
  // `number` is the batch's.
  peer::DirtyBatch take(std::uint64_t number);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const;
  };

  void forget_elements(std::string_view key);

  std::size_t keys_max_;
  std::size_t bytes_ = 0;
  std::size_t elements_count_ = 0;
  bool whole_range_ = false;
  std::unordered_set<std::string, Hash, std::equal_to<>> keys_;
  // Of keys that are not in `keys_`.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> elements_;
};

}  // namespace cleave::proxy
