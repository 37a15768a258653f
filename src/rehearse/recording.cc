#include "rehearse/recording.h"

#include <set>

namespace cleave::rehearse {
namespace {

ring::TokenRange stripe(std::size_t number) {
  const std::uint64_t first = std::uint64_t{number} << 56U;
  return {Token{first}, Token{first + ((std::uint64_t{1} << 56U) - 1)}};
}

}  // namespace

Recording::Recording(Record start, seconds duration, seconds step) : record_(std::move(start)) {
  const auto steps = static_cast<std::size_t>(duration / step);
  moments_apart_ = step * static_cast<std::int64_t>((steps + kMomentsMax) / kMomentsMax);
}

void Recording::set_nodes(const std::vector<PoolNode>& nodes) {
  record_.nodes.clear();
  for (const PoolNode& node : nodes) {
    record_.nodes.push_back(
        {.name = node.spec.name, .rack = node.spec.rack, .capacity = node.capacity});
  }
}

void Recording::set_cuts(const ring::Document& document, seconds at) {
  std::set<std::pair<ring::TokenRange, std::size_t>> now;
  for (const ring::Cut& cut : document.cuts) now.emplace(cut.range, number_of(cut.node));
  for (const auto& [cut, recorded] : standing_) {
    if (!now.contains(cut)) record_.cuts[recorded].until = at;
  }
  std::erase_if(standing_, [&](const auto& each) { return !now.contains(each.first); });
  for (const auto& cut : now) {
    if (!standing_.emplace(cut, record_.cuts.size()).second) continue;
    record_.cuts.push_back({.range = cut.first, .owner = cut.second, .from = at, .until = at});
  }
}

void Recording::look(const Course::Point& point, std::span<const std::uint64_t> loads,
                     std::span<const Amount> amounts, const Truth& truth,
                     std::size_t moves_under_way) {
  if (point.at % moments_apart_ != seconds{0}) return;
  Moment moment{.at = point.at,
                .node_load = {loads.begin(), loads.end()},
                .peak_ppm = point.peak_ppm,
                .bound_ppm = point.bound_ppm,
                .moves_under_way = static_cast<std::uint32_t>(moves_under_way)};
  for (const Amount& each : amounts) moment.node_bytes.push_back(each.bytes);
  for (std::size_t number = 0; number < kStripes; ++number) {
    moment.stripe_load.push_back(truth.in(stripe(number)).load);
  }
  record_.moments.push_back(std::move(moment));
}

std::size_t Recording::move_began(const balance::PlannedMove& move, const Amount& amount,
                                  seconds at) {
  record_.moves.push_back({.began = at,
                           .ended = at,
                           .source = number_of(move.source),
                           .destination = number_of(move.destination),
                           .ranges = move.ranges,
                           .load = amount.load,
                           .keys = amount.keys,
                           .bytes = amount.bytes,
                           .reason = move.reason});
  move_over_.push_back(false);
  return record_.moves.size() - 1;
}

void Recording::move_ended(std::size_t move, bool committed, seconds at) {
  record_.moves[move].ended = at;
  record_.moves[move].committed = committed;
  move_over_[move] = true;
}

// A moment has one load for each node that there ever was, in the order of the nodes.
Record Recording::finish(seconds end) {
  for (std::size_t move = 0; move < move_over_.size(); ++move) {
    if (!move_over_[move]) record_.moves[move].ended = end;
  }
  for (const auto& [cut, recorded] : standing_) record_.cuts[recorded].until = end;
  for (Moment& moment : record_.moments) {
    moment.node_load.resize(record_.nodes.size());
    moment.node_bytes.resize(record_.nodes.size());
  }
  return std::move(record_);
}

}  // namespace cleave::rehearse
