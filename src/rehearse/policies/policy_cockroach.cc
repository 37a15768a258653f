// "cockroach": CockroachDB's load-based splits, its store rebalancer's pace and thresholds, and the
// bands of its multi-metric allocator.
//
// Source: pkg/kv/kvserver/split, merge_queue.go, store_rebalancer.go,
// allocator/mmaprototype/load.go (stored revisions of 2025).
//
// - A range at 2,500 requests/s or 500 ms/s of CPU for ten seconds is cut at half of its load
//   (rehearse/policies/load_splitter.h).
// - Once a minute a node above its mean + max(10 %, 100 requests/s) sheds whole ranges, hottest
//   first, one move after the other, until it is below. A range is worth it from 2 % of its node's
//   load. The coldest node takes it if that, counted 1.1 times, leaves it within 5 % above the mean
//   (between 5 % and 10 % a node neither gives nor takes) and if the two differ by 200 requests/s.
// - A node with less than 5 % of its CPU in use never sheds.
// - One merge at a time: below 128 MiB together, and the ten-minute peaks of both together below
//   half of the split threshold, both ten minutes old (theirs: five).
//
// Left out: lease transfers, which cost nothing (a range has one copy here); random choice among
// equally coarse levels of load; the moving together of neighbours that are to be merged.
#include <algorithm>
#include <map>

#include "rehearse/policies/baselines.h"
#include "rehearse/policies/load_splitter.h"

namespace cleave::rehearse {
namespace {

constexpr LoadSplitter::Thresholds kSplit{.requests = 2'500, .load = 500'000'000};
constexpr std::int64_t kPaceMillis = 60'000;
constexpr std::size_t kRangesTried = 128;
constexpr std::uint64_t kRequestsOver = 100;
constexpr std::uint64_t kRequestsApart = 200;
constexpr std::uint64_t kMergeBytes = 128ULL << 20U;
constexpr std::int64_t kMergeMillis = 600'000;

class CockroachPolicy final : public Policy {
 public:
  explicit CockroachPolicy(std::uint64_t seed) : splitter_(kSplit, seed) {}

  std::string_view name() const override { return "cockroach"; }

  Proposal decide(const balance::Input& input) override {
    Survey survey(input);
    Proposal proposal{.cuts = splitter_.cuts(survey), .plan = {.moves = survey.evacuate()}};
    std::uint64_t requests = 0;
    for (const SurveyRange& each : survey.ranges()) requests += each.requests;
    const std::uint64_t request_load = requests == 0 ? 0 : survey.total_load() / requests;
    std::vector<NodeId> hottest = survey.free_nodes();
    std::ranges::reverse(hottest);
    for (const NodeId each : hottest) {
      if (auto move = shed(survey, each, request_load))
        proposal.plan.moves.push_back(std::move(*move));
    }
    if (const auto merge = merge_one(survey)) proposal.plan.merges.push_back(*merge);
    return proposal;
  }

 private:
  // The next range that the store gives away in its minute's round; nullopt ends the round.
  std::optional<balance::PlannedMove> shed(Survey& survey, NodeId id, std::uint64_t request_load) {
    const SurveyNode& store = survey.node(id);
    std::int64_t& next_round = next_round_[id];
    if (store.busy || survey.now().value() < next_round) return std::nullopt;
    const std::uint64_t over = std::max(store.fair / 10, kRequestsOver * request_load);
    const bool idle = Wide{store.load} * 20 < store.capacity;
    if (store.load > store.fair + over && !idle) {
      if (auto move = first_that_fits(survey, id, kRequestsApart * request_load)) return move;
    }
    next_round = survey.now().value() + kPaceMillis;
    return std::nullopt;
  }

  static std::optional<balance::PlannedMove> first_that_fits(Survey& survey, NodeId id,
                                                             std::uint64_t apart) {
    const std::vector<NodeId> free = survey.free_nodes();
    const SurveyNode& store = survey.node(id);
    const SurveyNode& coldest = survey.node(free.front());
    if (coldest.id == id || store.load < coldest.load + apart) return std::nullopt;
    std::size_t tried = 0;
    for (const std::size_t at : survey.ranges_of(id)) {
      const SurveyRange& range = survey.ranges()[at];
      if (++tried > kRangesTried || range.load.mean * 50 < store.load) return std::nullopt;
      const std::uint64_t after = coldest.load + range.load.mean * 11 / 10;
      if (after * 100 > coldest.fair * 105) continue;
      return survey.move(id, coldest.id, {range.range}, "its store is above the mean and 10 %");
    }
    return std::nullopt;
  }

  static std::optional<ring::TokenRange> merge_one(const Survey& survey) {
    for (const Neighbours& pair : survey.neighbours()) {
      const bool settled = survey.now().value() - pair.cut_at.value() >= kMergeMillis;
      if (settled && pair.bytes < kMergeBytes && pair.peak < kSplit.load / 2) return pair.range;
    }
    return std::nullopt;
  }

  LoadSplitter splitter_;
  std::map<NodeId, std::int64_t> next_round_;  // milliseconds
};

}  // namespace

std::unique_ptr<Policy> make_cockroach_policy(std::uint64_t seed) {
  return std::make_unique<CockroachPolicy>(seed);
}

}  // namespace cleave::rehearse
