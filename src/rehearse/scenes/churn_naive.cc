// The demonstration `churn` without cleave: the naive ring, and hash % N.
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "rehearse/scenes/churn.h"
#include "rehearse/scenes/naive_ring.h"

namespace cleave::rehearse {
namespace {

constexpr std::size_t kFirstKeys = 60;

std::int32_t point_of(const std::string& node, std::uint32_t index) {
  return absolute_hash(node + "#VN" + std::to_string(index));
}

void join(NaiveRing& ring, const std::string& node, std::uint32_t points) {
  for (std::uint32_t i = 0; i < points; ++i) ring.put(point_of(node, i), node);
}

void leave(NaiveRing& ring, const std::string& node, std::uint32_t points) {
  for (std::uint32_t i = 0; i < points; ++i) ring.remove(point_of(node, i));
}

std::vector<std::string> owners_of(const NaiveRing& ring, const std::vector<std::string>& keys) {
  std::vector<std::string> owners;
  for (const std::string& key : keys) owners.push_back(ring.owner(absolute_hash(key)));
  return owners;
}

std::uint64_t count_differences(const std::vector<std::string>& before,
                                const std::vector<std::string>& after) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < before.size(); ++i) count += before[i] != after[i] ? 1U : 0U;
  return count;
}

ChurnStage stage_of(std::string name, const std::vector<std::string>& nodes,
                    const std::vector<std::string>& owners) {
  ChurnStage stage{.name = std::move(name), .nodes = {}};
  for (const std::string& node : nodes) {
    const auto keys = static_cast<std::uint64_t>(std::ranges::count(owners, node));
    stage.nodes.push_back({.name = node, .keys = keys});
  }
  return stage;
}

// Node number by the remainder, as the programs that came before rings do it.
std::vector<std::string> remainders(const std::vector<std::string>& keys, std::int32_t nodes) {
  std::vector<std::string> owners;
  for (const std::string& key : keys) owners.push_back(std::to_string(absolute_hash(key) % nodes));
  return owners;
}

}  // namespace

NaiveChurn naive_churn(const ChurnInput& input) {
  CHECK(input.nodes.size() >= 2);
  const std::vector<std::string> watched = {"product:12345", "user:session:abcde", "item:999"};
  std::vector<std::string> nodes(input.nodes.begin(), input.nodes.end() - 1);
  NaiveRing ring;
  for (const std::string& node : nodes) join(ring, node, input.naive_points);
  const auto start = owners_of(ring, input.keys);
  const auto watched_start = owners_of(ring, watched);

  NaiveChurn result;
  result.stages.push_back(stage_of("start", nodes, start));
  join(ring, input.nodes.back(), input.naive_points);
  const auto joined = owners_of(ring, input.keys);
  const auto watched_joined = owners_of(ring, watched);
  result.stages.push_back(stage_of("joined", input.nodes, joined));
  result.stages.back().keys_moved = count_differences(start, joined);
  result.first_keys.assign(joined.begin(), joined.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                kFirstKeys, joined.size())));

  leave(ring, nodes.back(), input.naive_points);
  nodes.back() = input.nodes.back();
  const auto left = owners_of(ring, input.keys);
  const auto watched_left = owners_of(ring, watched);
  result.stages.push_back(stage_of("left", nodes, left));
  result.stages.back().keys_moved = count_differences(joined, left);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    result.watched.push_back({watched[i], watched_start[i], watched_joined[i], watched_left[i]});
  }
  return result;
}

ModuloChurn modulo_churn(const ChurnInput& input) {
  const auto nodes = static_cast<std::int32_t>(input.nodes.size());
  const auto start = remainders(input.keys, nodes - 1);
  const auto joined = remainders(input.keys, nodes);
  return {.keys = input.keys.size(),
          .moved_by_join = count_differences(start, joined),
          .moved_by_leave = count_differences(joined, start)};
}

}  // namespace cleave::rehearse
