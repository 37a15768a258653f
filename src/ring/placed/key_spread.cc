#include "ring/placed/key_spread.h"

#include "base/check.h"
#include "base/rng.h"

namespace cleave::ring {

KeySpread spread_of(const PlacementSide& side, std::span<const std::string> keys) {
  KeySpread spread{.counts = std::vector<std::uint64_t>(side.nodes.size())};
  for (const std::string& key : keys) {
    if (const auto owner = side.placement.owner(key)) {
      CHECK(*owner < spread.counts.size());  // the nodes are those of the placement
      ++spread.counts[*owner];
      ++spread.placed;
    } else {
      ++spread.unplaced;
    }
  }
  return spread;
}

std::vector<std::string> sample_keys(std::uint64_t seed, std::size_t count) {
  constexpr std::uint64_t kBelow = 1'000'000'000'000'000'000;
  Rng rng(seed);
  std::vector<std::string> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(std::to_string(rng.below(kBelow)));
  return keys;
}

}  // namespace cleave::ring
