// DirtySet: the keys of a moving range that writes have finished on since the last batch
// (protocol rule 10). A worker has one for each move; the control side joins theirs.
//
// Bounded: what does not fit turns into "the whole range", at which a move aborts. Too much is
// always safe to say, too little never.
//
// Threads: one owner.
#pragma once

#include <cstddef>
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
  void add_whole_range();
  // Everything of a batch; its number does not matter.
  void add(const peer::DirtyBatch& batch);

  std::size_t size() const { return keys_.size(); }
  bool whole_range() const { return whole_range_; }

  // What was added since the last `take`, in the order of the keys' bytes; the set is empty then.
  // `number` is the batch's.
  peer::DirtyBatch take(std::uint64_t number);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const;
  };

  std::size_t keys_max_;
  std::size_t bytes_ = 0;
  bool whole_range_ = false;
  std::unordered_set<std::string, Hash, std::equal_to<>> keys_;
};

}  // namespace cleave::proxy
