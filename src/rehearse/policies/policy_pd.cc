// "pd": TiKV's load-based splits and the hot-region scheduler of its placement driver.
//
// Source: tikv/pd pkg/schedule/schedulers/hot_region*.go, pkg/statistics/hot_peer_cache.go,
// pkg/schedule/checker/merge_checker.go; TiKV split_config.rs (stored revisions of 2025).
//
// - TiKV cuts a region at 3,000 requests/s or a quarter of a core for ten seconds at half of its
//   load (rehearse/policies/load_splitter.h).
// - Reports come every ten seconds; a region's rate is the median of its last five. A region is hot
//   from 32 requests/s (there: 128 reads or 32 writes) and 0.8 times the 60th hottest of its store;
//   its degree grows by one a report, and a region that cools is forgotten after 12 cold reports.
//   It may be moved from degree 3 on, and not within three reports of its last move.
// - A store gives when it and its last three reports are above 1.05 times the mean of all stores,
//   and takes when 1.05 times its load is below it. Nothing is done while the loads' standard
//   deviation is below 5 % of the mean, nor for a pair whose colder has 0.93 of the hotter.
// - Of the hot regions the one that makes a pair most equal moves; never one that reverses it. A
//   region above a fifth of its store's load is cut at its half instead, if it has one.
// - At most four moves at a time; checks every 2 s while there is work, up to 20 s while not.
// - Merge: an hour after a split, not hot, together at most 54 MiB; one at a time.
//
// Left out: the second dimension (bytes; here all is server time), leaders apart from peers (one
// copy), and region weights. The mean is over stores, whatever their capacities, as there.
#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "rehearse/policies/baselines.h"
#include "rehearse/policies/load_splitter.h"

namespace cleave::rehearse {
namespace {

constexpr LoadSplitter::Thresholds kPdSplit{.requests = 3'000, .load = 250'000'000};
constexpr std::int64_t kReportMillis = 10'000;
constexpr std::size_t kMedianOf = 5;
constexpr std::uint64_t kHotRequests = 32;
constexpr std::size_t kTop = 60;  // regions of a store that are kept
constexpr int kDegreeMin = 3;
constexpr int kColdReports = 12;
constexpr std::size_t kHistory = 3;  // reports of a store
constexpr std::int64_t kCoolMillis = kDegreeMin * kReportMillis;
constexpr std::size_t kMovesAtOnce = 4;
constexpr std::int64_t kCheckMillis = 2'000;
constexpr std::int64_t kCheckMillisMax = 20'000;
constexpr std::uint64_t kPdMergeBytes = 54ULL << 20U;
constexpr std::int64_t kPdMergeMillis = 3'600'000;
constexpr std::uint64_t kTolerancePerCent = 105;
constexpr std::uint64_t kBalancedPerCent = 93;  // a pair is worked on below it
constexpr std::uint64_t kSplitShare = 5;        // a region above 1 / 5 of its store is cut

class PdPolicy final : public Policy {
 public:
  explicit PdPolicy(std::uint64_t seed) : splitter_(kPdSplit, seed) {}

  std::string_view name() const override { return "pd"; }

  Proposal decide(const balance::Input& input) override {
    Survey survey(input);
    Proposal proposal{.cuts = splitter_.cuts(survey), .plan = {.moves = survey.evacuate()}};
    const std::int64_t now = survey.now().value();
    if (now >= next_report_) {
      next_report_ = now + kReportMillis;
      report(survey);
    }
    if (now >= next_check_) {
      const bool worked = check(survey, input.view->document().moves.size(), proposal);
      wait_ = worked ? kCheckMillis : std::min(2 * wait_, kCheckMillisMax);
      next_check_ = now + wait_;
    }
    if (const auto merge = merge_one(survey)) proposal.plan.merges.push_back(*merge);
    return proposal;
  }

 private:
  struct Region {
    std::deque<std::uint64_t> rates;
    std::uint64_t rate = 0;  // their median
    int degree = 0;
    int cold = 0;  // reports
  };
  struct Choice {
    NodeId source = {};
    NodeId destination = {};
    const SurveyRange* region = nullptr;
    Wide low = 0;  // of the pair, after: low / high is how equal they are
    Wide high = 1;
  };

  void report(const Survey& survey);
  Region rated(const SurveyRange& range) const;
  bool check(Survey& survey, std::size_t under_way, Proposal& proposal);
  bool may_give(const Survey& survey, const SurveyNode& store) const;
  std::vector<const SurveyRange*> hot_regions(const Survey& survey, NodeId store) const;
  std::optional<Choice> best(const Survey& survey) const;
  void improve(const Survey& survey, const SurveyNode& source, Choice& choice) const;
  std::optional<ring::TokenRange> merge_one(const Survey& survey) const;
  static std::optional<Token> to_be_cut(const SurveyRange& region, const SurveyNode& store);
  static bool uniform(const Survey& survey);

  LoadSplitter splitter_;
  std::map<ring::TokenRange, Region> regions_;
  std::map<ring::TokenRange, std::int64_t> moved_;  // when, milliseconds
  std::map<NodeId, std::deque<std::uint64_t>> history_;
  std::deque<std::uint64_t> means_;  // of all stores, at the same reports
  std::int64_t next_report_ = 0;
  std::int64_t next_check_ = 0;
  std::int64_t wait_ = kCheckMillis;
};

template <class T>
void remember(std::deque<T>& values, T value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

// A region that was not known, as after a cut, begins with what it has and no degree.
PdPolicy::Region PdPolicy::rated(const SurveyRange& range) const {
  const auto before = regions_.find(range.range);
  Region region = before == regions_.end() ? Region{} : before->second;
  remember(region.rates, range.load.mean, kMedianOf);
  std::vector<std::uint64_t> sorted(region.rates.begin(), region.rates.end());
  std::ranges::sort(sorted);
  region.rate = sorted[sorted.size() / 2];
  return region;
}

void PdPolicy::report(const Survey& survey) {
  std::map<ring::TokenRange, Region> regions;
  for (const SurveyNode& store : survey.nodes()) {
    remember(history_[store.id], store.load, kHistory);
    std::vector<std::uint64_t> rates;
    std::vector<std::pair<const SurveyRange*, Region>> own;
    for (const std::size_t at : survey.ranges_of(store.id)) {
      own.emplace_back(&survey.ranges()[at], rated(survey.ranges()[at]));
      rates.push_back(own.back().second.rate);
    }
    std::ranges::sort(rates, std::ranges::greater{});
    const std::uint64_t least = rates.size() < kTop ? 0 : rates[kTop - 1] * 8 / 10;
    for (auto& [range, region] : own) {
      const bool hot = range->requests >= kHotRequests && region.rate >= least;
      region.cold = hot ? 0 : region.cold + 1;
      region.degree = hot ? region.degree + 1 : region.degree - 1;
      const bool known = hot || (region.cold < kColdReports && region.degree > 0);
      if (known) regions.emplace(range->range, std::move(region));
    }
  }
  remember(means_, survey.mean(), kHistory);
  regions_ = std::move(regions);
}

// The standard deviation is below 5 % of the mean.
bool PdPolicy::uniform(const Survey& survey) {
  const std::uint64_t mean = survey.mean();
  Wide squares = 0;
  std::uint64_t stores = 0;
  for (const SurveyNode& each : survey.nodes()) {
    if (!each.usable) continue;
    const std::uint64_t off = std::max(each.load, mean) - std::min(each.load, mean);
    squares += Wide{off} * off;
    ++stores;
  }
  return squares * 400 < Wide{mean} * mean * stores;
}

bool PdPolicy::check(Survey& survey, std::size_t under_way, Proposal& proposal) {
  bool worked = false;
  while (under_way + proposal.plan.moves.size() < kMovesAtOnce && !uniform(survey)) {
    const std::optional<Choice> choice = best(survey);
    if (!choice) return worked;
    worked = true;
    const SurveyRange& region = *choice->region;
    if (const auto middle = to_be_cut(region, survey.node(choice->source))) {
      proposal.cuts.push_back(boundary_after(region, *middle, "too hot to move", survey.now()));
      return worked;
    }
    moved_[region.range] = survey.now().value();
    proposal.plan.moves.push_back(survey.move(choice->source, choice->destination, {region.range},
                                              "makes the two stores most equal"));
  }
  return worked;
}

// Where a region that is too hot to be moved can be halved. A single hot key cannot: then the
// region is moved like any other.
std::optional<Token> PdPolicy::to_be_cut(const SurveyRange& region, const SurveyNode& store) {
  if (region.load.mean * kSplitShare <= store.load) return std::nullopt;
  return half_point(region, kHalvesPerCent);
}

bool PdPolicy::may_give(const Survey& survey, const SurveyNode& store) const {
  if (Wide{store.load} * 100 <= Wide{survey.mean()} * kTolerancePerCent) return false;
  const auto found = history_.find(store.id);
  if (found == history_.end() || found->second.size() < kHistory) return false;
  for (std::size_t at = 0; at < kHistory; ++at) {
    if (Wide{found->second[at]} * 100 <= Wide{means_[at]} * kTolerancePerCent) return false;
  }
  return true;
}

std::vector<const SurveyRange*> PdPolicy::hot_regions(const Survey& survey, NodeId store) const {
  std::vector<const SurveyRange*> hot;
  for (const std::size_t at : survey.ranges_of(store)) {
    const SurveyRange& range = survey.ranges()[at];
    const auto region = regions_.find(range.range);
    if (region == regions_.end() || region->second.degree < kDegreeMin) continue;
    const auto moved = moved_.find(range.range);
    if (moved != moved_.end() && survey.now().value() - moved->second < kCoolMillis) continue;
    hot.push_back(&range);
  }
  return hot;
}

std::optional<PdPolicy::Choice> PdPolicy::best(const Survey& survey) const {
  Choice choice;
  for (const SurveyNode& source : survey.nodes()) {
    if (!source.usable || source.busy || !may_give(survey, source)) continue;
    improve(survey, source, choice);
  }
  if (choice.region == nullptr) return std::nullopt;
  return choice;
}

// A better pair than the one chosen so far, if the source has one.
void PdPolicy::improve(const Survey& survey, const SurveyNode& source, Choice& choice) const {
  const std::vector<const SurveyRange*> hot = hot_regions(survey, source.id);
  for (const SurveyNode& destination : survey.nodes()) {
    if (!destination.usable || destination.busy || destination.id == source.id) continue;
    if (Wide{destination.load} * kTolerancePerCent >= Wide{survey.mean()} * 100) continue;
    if (Wide{destination.load} * 100 >= Wide{source.load} * kBalancedPerCent) continue;
    for (const SurveyRange* region : hot) {
      const std::uint64_t load = std::min(region->load.mean, source.load);
      const Wide high = Wide{source.load} - load;
      const Wide low = Wide{destination.load} + load;
      if (low > high && !to_be_cut(*region, source)) continue;  // would reverse the two
      const Wide low_after = std::min(low, high);
      const Wide high_after = std::max({low, high, Wide{1}});
      if (choice.region != nullptr && low_after * choice.high <= choice.low * high_after) continue;
      choice = {source.id, destination.id, region, low_after, high_after};
    }
  }
}

std::optional<ring::TokenRange> PdPolicy::merge_one(const Survey& survey) const {
  for (const Neighbours& pair : survey.neighbours()) {
    const bool settled = survey.now().value() - pair.cut_at.value() >= kPdMergeMillis;
    if (!settled || pair.bytes > kPdMergeBytes) continue;
    const auto overlaps = [&](const auto& region) {
      return region.second.degree >= kDegreeMin && region.first.overlaps(pair.range);
    };
    if (std::ranges::none_of(regions_, overlaps)) return pair.range;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Policy> make_pd_policy(std::uint64_t seed) {
  return std::make_unique<PdPolicy>(seed);
}

}  // namespace cleave::rehearse
