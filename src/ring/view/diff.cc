#include "ring/view/diff.h"

#include "ring/view/ownership.h"
#include "ring/width.h"

namespace cleave::ring {

std::vector<Change> diff(const RingView& before, const RingView& after) {
  return differences(owners(before.entries()), owners(after.entries()));
}

std::uint64_t moved_ppm(const std::vector<Change>& changes) {
  Wide sum = 0;
  for (const Change& change : changes) sum += width(change.range);
  return ppm_of_all(sum);
}

}  // namespace cleave::ring
