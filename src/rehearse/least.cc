#include "rehearse/least.h"

#include <algorithm>

#include "base/ppm.h"
#include "base/wide.h"
#include "rehearse/workloads/pool.h"

namespace cleave::rehearse {
namespace {

bool denser(const Truth::Atom& left, const Truth::Atom& right) {
  const Wide left_density = Wide{left.load} * right.keys;
  const Wide right_density = Wide{right.load} * left.keys;
  return left_density != right_density ? left_density > right_density : left.token < right.token;
}

// Fewest keys of the atoms that carry the load.
std::uint64_t fewest_keys(std::vector<Truth::Atom> atoms, std::uint64_t load) {
  std::ranges::sort(atoms, denser);
  std::uint64_t keys = 0;
  for (const Truth::Atom& each : atoms) {
    if (load == 0) break;
    if (each.load <= load) {
      keys += each.keys;
    } else {
      keys += static_cast<std::uint64_t>((Wide{each.keys} * load + each.load - 1) / each.load);
    }
    load -= std::min(load, each.load);
  }
  return keys;
}

}  // namespace

std::uint32_t target_ppm(std::uint32_t bound_ppm) {
  const std::uint64_t of_bound = std::uint64_t{bound_ppm} * 105 / 100;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1'100'000, of_bound));
}

Least least_work(const ring::RingView& view, std::span<const Truth::Atom> atoms,
                 std::span<const Amount> nodes, std::span<const std::uint64_t> fair,
                 std::uint32_t target_ppm) {
  std::uint64_t room = 0;  // of the node that can take most
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    room = std::max(room, above(ppm_of(fair[at], target_ppm), nodes[at].load));
  }
  std::vector<std::vector<Truth::Atom>> movable(nodes.size());
  for (const Truth::Atom& each : atoms) {
    if (each.load <= room) movable[number_of(view.owner(each.token))].push_back(each);
  }
  Least least;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (fair[at] == 0) continue;
    const std::uint64_t excess = above(nodes[at].load, ppm_of(fair[at], target_ppm));
    if (excess == 0) continue;
    least.load += excess;
    least.keys += fewest_keys(std::move(movable[at]), excess);
  }
  return least;
}

}  // namespace cleave::rehearse
