#include "rehearse/leader.h"

#include <utility>

#include "base/check.h"

namespace cleave::rehearse {

Leader::Leader(std::unique_ptr<Policy> policy, balance::Constants constants, std::uint64_t seed,
               Instant now)
    : policy_(std::move(policy)), constants_(constants), seed_(seed), loop_(now) {
  CHECK(policy_ != nullptr);
}

void Leader::set_view(const ring::RingSnapshot& view) {
  loop_.set_view(view);
  walk_.set_view(view);
}

void Leader::fold(const std::vector<std::pair<SessionId, heat::Report>>& reports, Instant now) {
  for (const auto& [session, report] : reports) loop_.fold(session, report, now);
}

Proposal Leader::tick(const Pool& pool, const std::vector<Amount>& amounts, Instant now,
                      UnixMillis wall) {
  loop_.look(now, wall);
  std::vector<ring::Cut> cuts;
  const auto ask = [&](const balance::Input& input) {
    Proposal proposal = policy_->decide(input);
    cuts = std::move(proposal.cuts);
    return std::move(proposal.plan);
  };
  balance::Plan plan = loop_.step({.nodes = facts(pool, amounts, now, wall),
                                   .constants = constants_,
                                   .now = wall,
                                   .seed = seed_ + static_cast<std::uint64_t>(now.count())},
                                  ask);
  return {.cuts = std::move(cuts), .plan = std::move(plan)};
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

void Leader::move_ended(const Transfer& transfer, bool committed, Instant now, UnixMillis wall) {
  const balance::PlannedMove& planned = transfer.promise.planned;
  loop_.ended({.ranges = planned.ranges,
               .source = planned.source,
               .destination = planned.destination,
               .ended = wall,
               .committed = committed,
               .keys = transfer.keys},
              transfer.promise, now);
}

}  // namespace cleave::rehearse
