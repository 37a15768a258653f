#include "balance/calm.h"

#include <algorithm>

#include "base/wide.h"

namespace cleave::balance {
namespace {

UnixMillis later(UnixMillis time, milliseconds by) { return UnixMillis{time.value() + by.count()}; }

bool touches(const ring::TokenRange& left, const ring::TokenRange& right) {
  const bool before = left.last < right.first && right.first.value() - left.last.value() == 1;
  const bool after = right.last < left.first && left.first.value() - right.last.value() == 1;
  return before || after || left.overlaps(right);
}

bool share_tokens(const std::vector<ring::TokenRange>& left,
                  const std::vector<ring::TokenRange>& right) {
  return ring::overlap(ring::normalised(left), ring::normalised(right));
}

}  // namespace

milliseconds backed_off(milliseconds first, std::uint64_t tries, milliseconds most) {
  milliseconds time = first;
  for (std::uint64_t count = 1; count < tries && time < most; ++count) time *= 2;
  return std::min(time, most);
}

Calm::Calm(const Input& input) : input_(input), moves_(input.history) {
  std::ranges::sort(moves_, [](const PastMove& left, const PastMove& right) {
    if (left.ended != right.ended) return left.ended > right.ended;
    if (left.source != right.source) return left.source < right.source;
    if (left.destination != right.destination) return left.destination < right.destination;
    return left.ranges < right.ranges;
  });
  std::vector<ring::TokenRange> dwelling;
  for (const PastMove& move : moves_) {
    if (!move.committed || move.ordered || !within(move, input.constants.dwell)) continue;
    dwelling.insert(dwelling.end(), move.ranges.begin(), move.ranges.end());
    dwelling_until_ = later(move.ended, input.constants.dwell);  // of the oldest: the first to end
  }
  dwelling_ = ring::normalised(std::move(dwelling));
}

bool Calm::within(const PastMove& move, milliseconds time) const {
  return input_.now.value() - move.ended.value() < time.count();
}

bool Calm::cut_just_now(const ring::TokenRange& range) const {
  const auto beside = [&](const ring::TokenRange& each) { return touches(each, range); };
  for (const PastMove& move : moves_) {
    if (!within(move, input_.constants.recut_after)) continue;
    if (move.committed && std::ranges::any_of(move.ranges, beside)) return true;
  }
  for (const ring::Move& move : input_.view->document().moves) {
    if (std::ranges::any_of(move.ranges, beside)) return true;
  }
  return false;
}

ring::RangeSet Calm::left(NodeId node) const {
  std::vector<ring::TokenRange> ranges;
  for (const PastMove& move : moves_) {
    if (!move.committed || move.source != node) continue;
    // How often the same tokens have left this node: each time they stay away for longer.
    const auto left_too = [&](const PastMove& each) {
      return each.committed && each.source == node && each.ended <= move.ended &&
             share_tokens(each.ranges, move.ranges);
    };
    const auto times = static_cast<std::uint64_t>(std::ranges::count_if(moves_, left_too));
    const milliseconds away =
        backed_off(input_.constants.back_after, times, input_.constants.back_max);
    if (within(move, away)) ranges.insert(ranges.end(), move.ranges.begin(), move.ranges.end());
  }
  return ring::normalised(std::move(ranges));
}

ring::RangeSet Calm::given(NodeId node) const {
  std::vector<ring::TokenRange> ranges;
  for (const PastMove& move : moves_) {
    if (!move.committed || move.ordered || move.source != node) continue;
    ranges.insert(ranges.end(), move.ranges.begin(), move.ranges.end());
  }
  if (ranges.empty()) return {};  // as for most nodes; what they own is long to list
  return ring::difference(ring::normalised(std::move(ranges)), input_.view->owned_by(node));
}

UnixMillis Calm::rests_until(NodeId source) const {
  std::uint64_t helpless = 0;
  UnixMillis last{};
  for (const PastMove& move : moves_) {
    if (!move.committed || move.source != source || !move.real_gain) continue;
    const Wide needed = Wide{move.predicted_gain} * input_.constants.helped_ppm;
    if (Wide{*move.real_gain} * 1'000'000 >= needed) break;
    if (helpless++ == 0) last = move.ended;
  }
  if (helpless == 0) return {};
  const UnixMillis until = later(
      last, backed_off(input_.constants.helpless_after, helpless, input_.constants.helpless_max));
  return until > input_.now ? until : UnixMillis{};
}

UnixMillis Calm::pair_rests_until(NodeId source, NodeId destination) const {
  std::uint64_t failed = 0;
  UnixMillis last{};
  for (const PastMove& move : moves_) {
    if (move.source != source || move.destination != destination) continue;
    if (move.committed) break;
    if (failed++ == 0) last = move.ended;
  }
  if (failed == 0) return {};
  const UnixMillis until =
      later(last, backed_off(input_.constants.failed_after, failed, input_.constants.failed_max));
  return until > input_.now ? until : UnixMillis{};
}

std::uint64_t Calm::keys_last_hour() const {
  std::uint64_t keys = 0;
  for (const PastMove& move : moves_) {
    if (move.committed && !move.ordered && within(move, milliseconds{3'600'000})) keys += move.keys;
  }
  return keys;
}

std::uint64_t Calm::keys_left(std::uint64_t keys_total, std::uint32_t hour_ppm) const {
  const auto share = static_cast<std::uint64_t>(Wide{keys_total} * hour_ppm / 1'000'000);
  const std::uint64_t hour = std::max(share, input_.constants.plan_keys_min);
  return hour - std::min(hour, keys_last_hour());
}

}  // namespace cleave::balance
