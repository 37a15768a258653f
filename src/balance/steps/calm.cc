#include "balance/steps/calm.h"

#include <algorithm>

#include "balance/steps/input_check.h"
#include "base/check.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

UnixMillis later(UnixMillis time, milliseconds by) { return UnixMillis{time.value() + by.count()}; }

constexpr milliseconds kHour{3'600'000};

// With the tokens beside it.
ring::TokenRange widened(const ring::TokenRange& range) {
  const std::uint64_t first = range.first.value();
  const std::uint64_t last = range.last.value();
  return {Token{first - (first > 0 ? 1U : 0U)}, Token{last + (range.last < ring::kLastToken)}};
}

// Tokens of the range that somebody else than the node owns.
Wide of_others(const ring::RingView& view, NodeId node, const ring::TokenRange& range) {
  Wide tokens = 0;
  const auto entries = view.entries();
  for (std::size_t at = view.find(range.first).value();
       at < entries.size() && entries[at].range.first <= range.last; ++at) {
    if (entries[at].node != node) tokens += ring::width(ring::common(entries[at].range, range));
  }
  return tokens;
}

}  // namespace

milliseconds backed_off(milliseconds first, std::uint64_t tries, milliseconds most) {
  milliseconds time = first;
  for (std::uint64_t count = 1; count < tries && time < most; ++count) time *= 2;
  return std::min(time, most);
}

Calm::Calm(const Input& input) : input_(input) {
  take_over(input);
  for (const Past& each : moves_) by_source_[each.move->source].push_back(&each);
  find_dwelling();
  find_cut();
  find_left();
  for (const Past& each : moves_) {
    if (each.move->committed && !each.move->ordered && within(each, kHour)) {
      keys_last_hour_ = std::min(keys_last_hour_ + each.move->keys, kAmountMax);
    }
  }
}

void Calm::take_over(const Input& input) {
  for (const PastMove& each : input.history) {
    if (absurd(each)) continue;
    const std::int64_t ahead = each.ended.value() - input.now.value();
    if (ahead > input.constants.back_max.count()) continue;
    moves_.push_back({&each, ring::normalised(each.ranges), std::min(each.ended, input.now)});
  }
  std::ranges::sort(moves_, [](const Past& left, const Past& right) {
    if (left.ended != right.ended) return left.ended > right.ended;
    if (left.move->source != right.move->source) return left.move->source < right.move->source;
    if (left.move->destination != right.move->destination) {
      return left.move->destination < right.move->destination;
    }
    if (left.ranges != right.ranges) return left.ranges < right.ranges;
    return left.move->committed && !right.move->committed;
  });
}

void Calm::find_dwelling() {
  std::vector<ring::TokenRange> ranges;
  for (const Past& each : moves_) {
    if (!each.move->committed || each.move->ordered) continue;
    if (!within(each, input_.constants.dwell)) continue;
    ranges.insert(ranges.end(), each.ranges.begin(), each.ranges.end());
  }
  dwelling_ = ring::normalised(std::move(ranges));
}

UnixMillis Calm::dwelling_until(const ring::RangeSet& ranges) const {
  UnixMillis until{};
  for (const Past& each : moves_) {
    if (!each.move->committed || each.move->ordered) continue;
    if (!within(each, input_.constants.dwell)) break;  // newest first
    if (ring::overlap(each.ranges, ranges)) until = later(each.ended, input_.constants.dwell);
  }
  return until;
}

void Calm::find_cut() {
  std::vector<ring::TokenRange> ranges;
  const auto add = [&](const ring::TokenRange& range) { ranges.push_back(widened(range)); };
  for (const Past& each : moves_) {
    if (!each.move->committed || !within(each, input_.constants.recut_after)) continue;
    std::ranges::for_each(each.ranges, add);
  }
  for (const ring::Move& move : input_.view->document().moves) {
    std::ranges::for_each(move.ranges, add);
  }
  cut_ = ring::normalised(std::move(ranges));
}

void Calm::find_left() {
  for (const auto& [source, moves] : by_source_) {
    std::vector<ring::TokenRange> ranges;
    for (auto move = moves.begin(); move != moves.end(); ++move) {
      if (!(*move)->move->committed) continue;
      // How often the same tokens have left this node: each time they stay away for longer.
      const auto left_too = [&](const Past* each) {
        return each->move->committed && ring::overlap(each->ranges, (*move)->ranges);
      };
      const auto times = static_cast<std::uint64_t>(std::count_if(move, moves.end(), left_too));
      const milliseconds away =
          backed_off(input_.constants.back_after, times, input_.constants.back_max);
      if (!within(**move, away)) continue;
      ranges.insert(ranges.end(), (*move)->ranges.begin(), (*move)->ranges.end());
    }
    if (!ranges.empty()) left_.emplace(source, ring::normalised(std::move(ranges)));
  }
}

bool Calm::within(const Past& past, milliseconds time) const {
  CHECK(past.ended <= input_.now);  // so it was taken over
  return input_.now.value() - past.ended.value() < time.count();
}

std::span<const Calm::Past* const> Calm::moves_of(NodeId source) const {
  const auto found = by_source_.find(source);
  return found == by_source_.end() ? std::span<const Past* const>{} : found->second;
}

bool Calm::cut_just_now(const ring::TokenRange& range) const {
  const auto found = std::ranges::lower_bound(cut_, range.first, {}, &ring::TokenRange::last);
  return found != cut_.end() && found->first <= range.last;
}

const ring::RangeSet& Calm::left(NodeId node) const {
  const auto found = left_.find(node);
  return found == left_.end() ? nothing_ : found->second;
}

std::uint32_t Calm::flaps(NodeId node, const ring::RangeSet& ranges) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(moves_of(node), [&](const Past* each) {
    return each->move->committed && ring::overlap(each->ranges, ranges);
  }));
}

Wide Calm::given(NodeId node) const {
  std::vector<ring::TokenRange> ranges;
  for (const Past* each : moves_of(node)) {
    if (!each->move->committed || each->move->ordered) continue;
    ranges.insert(ranges.end(), each->ranges.begin(), each->ranges.end());
  }
  Wide tokens = 0;
  for (const ring::TokenRange& each : ring::normalised(std::move(ranges))) {
    tokens += of_others(*input_.view, node, each);
  }
  return tokens;
}

UnixMillis Calm::rests_until(NodeId source) const {
  std::uint64_t helpless = 0;
  UnixMillis last{};
  for (const Past* each : moves_of(source)) {
    const PastMove& move = *each->move;
    if (!move.committed || !move.real_gain) continue;
    const Wide needed = Wide{move.predicted_gain} * input_.constants.helped_ppm;
    if (Wide{*move.real_gain} * 1'000'000 >= needed) break;
    if (helpless++ == 0) last = each->ended;
  }
  if (helpless == 0) return {};
  const UnixMillis until = later(
      last, backed_off(input_.constants.helpless_after, helpless, input_.constants.helpless_max));
  return until > input_.now ? until : UnixMillis{};
}

UnixMillis Calm::pair_rests_until(NodeId source, NodeId destination) const {
  std::uint64_t failed = 0;
  UnixMillis last{};
  for (const Past* each : moves_of(source)) {
    if (each->move->destination != destination) continue;
    if (each->move->committed) break;
    if (failed++ == 0) last = each->ended;
  }
  if (failed == 0) return {};
  const UnixMillis until =
      later(last, backed_off(input_.constants.failed_after, failed, input_.constants.failed_max));
  return until > input_.now ? until : UnixMillis{};
}

UnixMillis Calm::gave_until(NodeId source, milliseconds time) const {
  for (const Past* each : moves_of(source)) {
    if (each->move->committed) return within(*each, time) ? later(each->ended, time) : UnixMillis{};
  }
  return {};
}

std::uint64_t Calm::hour_of(std::uint64_t keys_total, std::uint32_t hour_ppm) const {
  const auto share = static_cast<std::uint64_t>(Wide{keys_total} * hour_ppm / 1'000'000);
  return std::max(share, input_.constants.plan_keys_min);
}

std::uint64_t Calm::keys_left(std::uint64_t keys_total, std::uint32_t hour_ppm) const {
  const std::uint64_t hour = hour_of(keys_total, hour_ppm);
  return hour - std::min(hour, keys_last_hour_);
}

UnixMillis Calm::keys_left_at(std::uint64_t keys_wanted, std::uint64_t keys_total,
                              std::uint32_t hour_ppm) const {
  const std::uint64_t hour = hour_of(keys_total, hour_ppm);
  const std::uint64_t most = hour - std::min(hour, keys_wanted);  // that the hour may hold
  std::uint64_t keys = keys_last_hour_;
  if (keys <= most) return {};
  for (auto each = moves_.rbegin(); each != moves_.rend(); ++each) {
    if (!each->move->committed || each->move->ordered || !within(*each, kHour)) continue;
    keys -= std::min(keys, each->move->keys);
    if (keys <= most) return later(each->ended, kHour);
  }
  return {};
}

}  // namespace cleave::balance
