#include "balance/steps/targets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace cleave::balance {
namespace {

// Why the node takes nothing now, from whomever; "" = it does.
std::string busy(const BoardNode& node, const Constants& constants) {
  if (!node.no_target.empty()) return node.no_target;
  return node.moves_in >= constants.moves_in_max ? "it is taking another move" : "";
}

}  // namespace

Targets::Targets(const Board& board, const Calm& calm) : board_(board), calm_(calm) {
  places_.reserve(board.nodes().size());
  for (const BoardNode& each : board.nodes()) {
    places_.emplace_back(each.level(), each.id);
    insert(each);
  }
}

void Targets::insert(const BoardNode& node) {
  auto& set = busy(node, board_.constants()).empty() ? open_ : blocked_;
  set.emplace(node.level(), node.id);
}

void Targets::update(NodeId id) {
  const auto place = std::ranges::lower_bound(places_, id, {}, &Place::second);
  CHECK(place != places_.end() && place->second == id);
  const std::size_t erased = open_.erase(*place) + blocked_.erase(*place);
  CHECK(erased == 1);  // it stands in one of them, as it was inserted
  const BoardNode& node = board_.node(id);
  place->first = node.level();
  insert(node);
}

Candidates Targets::of(const BoardNode& source, Rng& rng) const {
  const Constants& constants = board_.constants();
  Candidates result{.rejected = blocked_for(source)};
  std::size_t near = 0;
  std::uint32_t lowest = 0;
  for (const auto& [level, id] : open_) {
    if (level >= source.level() || result.nodes.size() >= constants.targets_max) break;
    if (id == source.id) continue;
    const BoardNode& node = board_.node(id);
    std::string no = placement_veto(source, node);
    const UnixMillis rests = no.empty() ? calm_.pair_rests_until(source.id, id) : UnixMillis{};
    if (rests != UnixMillis{}) {
      no = "the last moves to it were aborted";
      const UnixMillis first = result.pair_rests_until;
      result.pair_rests_until = first == UnixMillis{} ? rests : std::min(first, rests);
    }
    if (!no.empty()) {
      if (result.rejected.size() < kAlternativesMax) result.rejected.push_back({id, std::move(no)});
      continue;
    }
    if (result.nodes.empty()) lowest = level;
    if (level - lowest <= constants.near_ppm) ++near;
    result.nodes.push_back(id);
  }
  for (std::size_t last = near; last > 1; --last) {
    std::swap(result.nodes[last - 1], result.nodes[rng.below(last)]);
  }
  return result;
}

bool Targets::open_to(const BoardNode& source, const BoardNode& node) const {
  return node.id != source.id && busy(node, board_.constants()).empty() &&
         placement_veto(source, node).empty() &&
         calm_.pair_rests_until(source.id, node.id) == UnixMillis{};
}

std::vector<Alternative> Targets::blocked_for(const BoardNode& source) const {
  std::vector<Alternative> result;
  for (const auto& [level, id] : blocked_) {
    if (level >= source.level() || result.size() >= kAlternativesMax) break;
    if (id != source.id) result.push_back({id, busy(board_.node(id), board_.constants())});
  }
  return result;
}

}  // namespace cleave::balance
