#include "heat/space_saving.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace cleave::heat {

void SpaceSaving::add(std::string_view key, Token token, std::uint64_t weight) {
  CHECK(used_ <= kCounters);
  // The whole key is hashed, also where only its beginning is kept as its name.
  const std::uint64_t hash = xxh3_64(key);
  const auto known = hashes_.begin() + static_cast<std::ptrdiff_t>(used_);
  const auto found = std::find(hashes_.begin(), known, hash);
  if (found != known) {
    weights_[static_cast<std::size_t>(found - hashes_.begin())] += weight;
    return;
  }
  std::size_t at = used_;
  if (used_ < kCounters) {
    ++used_;
    errors_[at] = 0;
  } else {
    at = static_cast<std::size_t>(std::ranges::min_element(weights_) - weights_.begin());
    errors_[at] = weights_[at];
  }
  hashes_[at] = hash;
  weights_[at] = errors_[at] + weight;
  names_[at].key.assign(key.substr(0, kKeyBytesMax));
  names_[at].token = token;
}

std::vector<HotKey> SpaceSaving::top(NodeId node, std::size_t count_max) const {
  std::vector<HotKey> result;
  for (std::size_t at = 0; at < used_; ++at) {
    CHECK(errors_[at] <= weights_[at]);
    if (weights_[at] == errors_[at]) continue;
    result.push_back({.key = names_[at].key,
                      .token = names_[at].token,
                      .node = node,
                      .weight_ns = weights_[at],
                      .error_ns = errors_[at]});
  }
  std::ranges::sort(result, [](const HotKey& left, const HotKey& right) {
    const std::uint64_t left_sure = left.weight_ns - left.error_ns;
    const std::uint64_t right_sure = right.weight_ns - right.error_ns;
    return left_sure != right_sure ? left_sure > right_sure : left.key < right.key;
  });
  if (result.size() > count_max) result.resize(count_max);
  return result;
}

}  // namespace cleave::heat
