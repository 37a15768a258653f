#include "heat/picture.h"

#include "base/wide.h"

namespace cleave::heat {

std::uint64_t total_mean(const Picture& picture) {
  std::uint64_t total = 0;
  for (const RangeLoad& each : picture.ranges) total += each.load.mean;
  return total;
}

std::uint32_t silent_ppm(const Picture& picture) {
  Wide silent = 0;
  Wide total = 0;
  for (const Source& each : picture.sources) {
    total += each.load;
    if (each.silent) silent += each.load;
  }
  return total == 0 ? 0 : static_cast<std::uint32_t>(silent * 1'000'000 / total);
}

std::string key_at(const Picture& picture, Token token) {
  for (const KeyLoad& each : picture.keys) {
    if (each.token == token) return each.key;
  }
  return "";
}

}  // namespace cleave::heat
