// "halve": the rule that every production splitter shares, alone and at its best.
//
// Source: CockroachDB split at half of the load (pkg/kv/kvserver/split), TiKV load-base-split, PD
// bucket splits, Dicer `getSplit(load / 2)`.
//
// Each tick, the hottest node that is more than 10 % above its share: its hottest range that has
// two halves (survey.h) is cut there, and the lighter half moves to the coldest node,
// unless that becomes hotter than the source was.
//
// Left out: brakes and merges. Whatever keeps this rule from a goal is the rule itself.
#include <optional>

#include "rehearse/policies/baselines.h"
#include "rehearse/policies/survey.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint64_t kHotPerCent = 110;  // of its fair load

class HalvePolicy final : public Policy {
 public:
  std::string_view name() const override { return "halve"; }

  Proposal decide(const balance::Input& input) override {
    Survey survey(input);
    Proposal proposal{.plan = {.moves = survey.evacuate()}};
    const std::vector<NodeId> free = survey.free_nodes();
    if (free.size() < 2) return proposal;
    if (auto move = halve(survey, free.back(), free.front())) proposal.plan.moves.push_back(*move);
    return proposal;
  }

 private:
  static std::optional<balance::PlannedMove> halve(Survey& survey, NodeId hottest, NodeId coldest) {
    const SurveyNode& source = survey.node(hottest);
    const SurveyNode& destination = survey.node(coldest);
    const std::vector<std::size_t> own = survey.ranges_of(hottest);
    if (Wide{source.load} * 100 <= Wide{source.fair} * kHotPerCent || own.empty()) return {};
    for (const std::size_t at : own) {
      const SurveyRange& range = survey.ranges()[at];
      const std::optional<Token> middle = half_point(range, kHalvesPerCent);
      if (!middle) continue;
      const ring::TokenRange half = lighter_half(survey, range.range, *middle);
      const std::uint64_t after = destination.load + survey.load_in(half);
      if (Wide{after} * source.capacity >= Wide{source.load} * destination.capacity) continue;
      return survey.move(hottest, coldest, {half}, "half of the hottest range");
    }
    return {};
  }

  static ring::TokenRange lighter_half(const Survey& survey, const ring::TokenRange& range,
                                       Token middle) {
    const ring::TokenRange left{range.first, middle};
    const ring::TokenRange right{Token{middle.value() + 1}, range.last};
    return survey.load_in(left) <= survey.load_in(right) ? left : right;
  }
};

}  // namespace

std::unique_ptr<Policy> make_halve_policy(std::uint64_t /*seed*/) {
  return std::make_unique<HalvePolicy>();
}

}  // namespace cleave::rehearse
