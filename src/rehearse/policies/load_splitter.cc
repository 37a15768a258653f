#include "rehearse/policies/load_splitter.h"

#include <algorithm>

namespace cleave::rehearse {
namespace {

constexpr std::int64_t kRecordMillis = 10'000;   // CockroachDB RecordDurationThreshold
constexpr std::int64_t kSuggestMillis = 60'000;  // minSplitSuggestionInterval
constexpr int kCandidates = 20;                  // splitKeySampleSize
constexpr std::uint64_t kImbalancePerCent = 25;  // splitKeyThreshold

}  // namespace

std::vector<ring::Cut> LoadSplitter::cuts(const Survey& survey) {
  std::vector<ring::Cut> cuts;
  std::map<ring::TokenRange, Watch> watches;
  for (const SurveyRange& range : survey.ranges()) {
    if (range.load.tick < thresholds_.load && range.requests < thresholds_.requests) continue;
    const auto before = watches_.find(range.range);
    Watch watch = before == watches_.end() ? Watch{.since = survey.now()} : before->second;
    const std::int64_t watched = survey.now().value() - watch.since.value();
    const std::int64_t quiet = survey.now().value() - watch.suggested.value();
    if (watched >= kRecordMillis && quiet >= kSuggestMillis && !range.in_flight) {
      if (const std::optional<Token> last = find(range)) {
        watch.suggested = survey.now();
        cuts.push_back(
            boundary_after(range, *last, "its load is above the threshold", survey.now()));
      }
    }
    watches.emplace(range.range, watch);
  }
  watches_ = std::move(watches);
  return cuts;
}

// The last token left of the best candidate; a candidate itself lies to the right of its cut.
std::optional<Token> LoadSplitter::find(const SurveyRange& range) {
  std::vector<std::uint64_t> before{0};  // load left of each token
  for (const heat::TokenLoad& each : range.tokens) before.push_back(before.back() + each.load);
  const std::uint64_t whole = before.back();
  if (whole == 0) return std::nullopt;
  std::optional<std::size_t> best;
  std::uint64_t best_imbalance = whole;
  for (int draw = 0; draw < kCandidates; ++draw) {
    const auto after = std::ranges::upper_bound(before, rng_.below(whole));
    const auto at = static_cast<std::size_t>(after - before.begin()) - 1;
    if (at == 0 || range.tokens[at].token == range.range.first) continue;  // nothing on its left
    const std::uint64_t left = before[at];
    const std::uint64_t right = whole - left;
    const std::uint64_t imbalance = std::max(left, right) - std::min(left, right);
    if (Wide{imbalance} * 100 >= Wide{whole} * kImbalancePerCent) continue;
    if (imbalance >= best_imbalance) continue;
    best = at;
    best_imbalance = imbalance;
  }
  if (!best) return std::nullopt;
  return Token{range.tokens[*best].token.value() - 1};
}

}  // namespace cleave::rehearse
