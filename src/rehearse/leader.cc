#include "rehearse/leader.h"

#include <algorithm>

#include "balance/input/gain.h"
#include "base/check.h"

namespace cleave::rehearse {
namespace {

constexpr milliseconds kGainAfter{
    60'000};  // as control/plan/balancer.h: the 30 s mean has forgotten
constexpr std::int64_t kHistoryMs = 24LL * 3'600'000;

}  // namespace

Leader::Leader(std::unique_ptr<Policy> policy, balance::Constants constants, std::uint64_t seed,
               Instant now)
    : policy_(std::move(policy)), constants_(constants), seed_(seed), ledger_(now) {
  CHECK(policy_ != nullptr);
}

void Leader::set_view(const ring::RingSnapshot& view) {
  view_ = view;
  ledger_.set_view(view);
  walk_.set_view(view);
}

void Leader::fold(const std::vector<std::pair<SessionId, heat::Report>>& reports, Instant now) {
  for (const auto& [session, report] : reports) (void)ledger_.fold(session, report, now);
}

Decision Leader::tick(const Pool& pool, const std::vector<Amount>& amounts, Instant now,
                      UnixMillis wall) {
  ledger_.tick(now);
  picture_ = ledger_.picture(now);
  measure_gains(wall);
  return policy_->decide({.view = view_,
                          .picture = picture_,
                          .nodes = facts(pool, amounts, now, wall),
                          .history = history_,
                          .constants = constants_,
                          .now = wall,
                          .seed = seed_ + static_cast<std::uint64_t>(now.count())});
}

// Keys are looked at where memory is limited; elsewhere the bytes of a scene lie evenly.
std::vector<balance::NodeFacts> Leader::facts(const Pool& pool, const std::vector<Amount>& amounts,
                                              Instant now, UnixMillis wall) {
  using Pace = balance::WalkPace;
  std::vector<balance::NodeFacts> all;
  const bool page_due = now >= walked_ + Pace::kPageEvery;
  if (page_due) walked_ = now;
  for (std::size_t number = 0; number < pool.nodes().size(); ++number) {
    const PoolNode& node = pool.nodes()[number];
    if (!node.member) continue;
    const Amount& has = amounts[number];
    all.push_back({.id = id_of(number),
                   .capacity = node.capacity,
                   .keys = has.keys,
                   .bytes_per_key = has.keys == 0 ? 0 : has.bytes / has.keys,
                   .memory_bytes = has.bytes,
                   .memory_bytes_max = node.spec.memory_bytes_max,
                   .healthy = node.healthy});
    if (node.spec.memory_bytes_max == 0) continue;
    if (page_due) walk_.walk(id_of(number), Pace::kPageKeys, now);
    all.back().key_sample = walk_.sample(id_of(number));
  }
  for (const NodeId node : balance::hurried_walks(all, constants_, wall)) {
    walk_.walk(node, 2 * Pace::kHurryPages * Pace::kPageKeys, now);  // two seconds a tick
  }
  return all;
}

std::uint64_t Leader::total_seen() const { return balance::slow_load(picture_); }

void Leader::move_ended(const Transfer& transfer, bool committed, UnixMillis wall) {
  const balance::PlannedMove& planned = transfer.planned;
  if (committed) {
    promises_.push_back({.past = history_.size(),
                         .due = UnixMillis{wall.value() + kGainAfter.count()},
                         .source_before = planned.source_before,
                         .total_before = transfer.total_before});
  }
  history_.push_back({.ranges = planned.ranges,
                      .source = planned.source,
                      .destination = planned.destination,
                      .ended = wall,
                      .committed = committed,
                      .ordered = balance::ordered(planned.cause),
                      .keys = transfer.keys,
                      .predicted_gain = planned.load});
}

void Leader::measure_gains(UnixMillis wall) {
  for (const Promise& each : promises_) {
    if (each.due > wall) continue;
    balance::PastMove& past = history_[each.past];
    past.real_gain = balance::real_gain({.source_before = each.source_before,
                                         .total_before = each.total_before,
                                         .source_now = balance::slow_load(picture_, past.source),
                                         .total_now = balance::slow_load(picture_)});
  }
  std::erase_if(promises_, [&](const Promise& each) { return each.due <= wall; });
  if (promises_.empty()) {
    std::erase_if(history_, [&](const balance::PastMove& past) {
      return past.ended.value() + kHistoryMs < wall.value();
    });
  }
}

}  // namespace cleave::rehearse
