// "dicer": the assignment algorithm of Databricks Dicer, the one readable relative of Slicer.
//
// Source: databricks/dicer Algorithm.scala, Splitter.scala, PlacementPhase.scala,
// MergePhase.scala, InternalTargetConfig.scala (January 2026).
//
// Once a minute, from loads with a half-life of 120 s:
// - tolerance = 10 % of max(load hint, mean load of a node); a slice with more load than that is
//   cut at half of it, again and again; a token of at least 5 % of its slice becomes a slice.
// - placement: from the hottest node, the best of all its slices on all nodes by the objective
//     0.25 x load moved + 4 (1 + u)^2 undershoot + 16 (load / most)^2 overshoot
//   (u = how far below the least desired load; both outside of mean +- tolerance only), until no
//   move improves it.
// - slices of one owner are merged, coldest first, while there are more than 64 a node.
//
// Dicer assigns and moves no data. Here an assignment is carried out by moves, all slices of a pair
// of nodes in one; what a node's limit holds back follows at the next ticks, until the next
// assignment.
//
// Left out: replicas of slices and their penalty (a key has one place), the freeze on crashes (a
// sick node is not touched by any policy here), state transfer. The load hint, which its users may
// set, is a tenth of a node's capacity: a higher one would let it stop further from the mean.
#include <algorithm>
#include <map>

#include "rehearse/policies/baselines.h"
#include "rehearse/policies/survey.h"

namespace cleave::rehearse {
namespace {

constexpr std::int64_t kAssignMillis = 60'000;
constexpr double kDecay = 0.98851402;  // 2^(-2 s / 120 s): of the old load, a tick
constexpr double kTolerance = 0.10;
constexpr double kHint = 0.10;  // of the capacity
constexpr double kChurn = 0.25;
constexpr double kUndershoot = 4;
constexpr double kOvershoot = 16;
constexpr double kImprovement = -1e-10;
constexpr double kTopKeyShare = 20;  // a token of 1 / 20 of its slice is cut out
constexpr std::size_t kSlicesPerNode = 64;
constexpr std::size_t kMergesAtOnce = 16;
constexpr std::size_t kStepsMax = 4'096;  // there: 30 s of computing

// A part of a range that may be assigned on its own.
struct Slice {
  ring::TokenRange range = {};
  NodeId owner = {};  // in the new assignment
  NodeId before = {};
  double load = 0;
};

struct Bin {
  NodeId id = {};
  double load = 0;
  double fair = 0;  // mean load by capacity
  double tolerance = 0;
};

double square(double value) { return value * value; }

// How bad it is that a node has this load.
double penalty(const Bin& bin, double load) {
  const double most = bin.fair + bin.tolerance;
  const double least = bin.fair - bin.tolerance;
  if (load > most) return kOvershoot * square(load / most) * (load - most);
  if (load < least) return kUndershoot * square(1 + (least - load) / least) * (least - load);
  return 0;
}

class DicerPolicy final : public Policy {
 public:
  std::string_view name() const override { return "dicer"; }

  Proposal decide(const balance::Input& input) override {
    Survey survey(input);
    Proposal proposal{.plan = {.moves = survey.evacuate()}};
    smooth(survey);
    if (survey.now().value() >= next_assignment_) {
      next_assignment_ = survey.now().value() + kAssignMillis;
      assign(survey);
      proposal.plan.merges = merges(survey);
    }
    carry_out(survey, proposal);
    return proposal;
  }

 private:
  void smooth(const Survey& survey);
  void assign(const Survey& survey);
  std::vector<Slice> split(const Survey& survey, const std::vector<Bin>& bins) const;
  void halve(const SurveyRange& range, double scale, double most, std::vector<Slice>& slices) const;
  static bool place_one(std::vector<Bin>& bins, std::vector<Slice>& slices);
  void carry_out(Survey& survey, Proposal& proposal);
  static std::vector<ring::TokenRange> merges(const Survey& survey);
  std::vector<Bin> bins(const Survey& survey) const;

  std::map<ring::TokenRange, double> loads_;  // smoothed
  std::map<std::pair<NodeId, NodeId>, std::vector<ring::TokenRange>> wanted_;
  std::int64_t next_assignment_ = 0;
};

// A range that is new begins with what it has.
void DicerPolicy::smooth(const Survey& survey) {
  std::map<ring::TokenRange, double> loads;
  for (const SurveyRange& each : survey.ranges()) {
    const auto load = static_cast<double>(each.load.tick);
    const auto before = loads_.find(each.range);
    loads[each.range] = before == loads_.end() ? static_cast<double>(each.load.mean)
                                               : before->second * kDecay + load * (1 - kDecay);
  }
  loads_ = std::move(loads);
}

std::vector<Bin> DicerPolicy::bins(const Survey& survey) const {
  double capacity = 0;
  double load = 0;
  for (const SurveyNode& each : survey.nodes()) {
    if (each.usable) capacity += static_cast<double>(each.capacity);
  }
  for (const auto& [range, each] : loads_) load += each;
  std::vector<Bin> bins;
  for (const SurveyNode& each : survey.nodes()) {
    if (!each.usable) continue;
    Bin bin{.id = each.id};
    bin.fair = load * static_cast<double>(each.capacity) / capacity;
    bin.tolerance = kTolerance * std::max(bin.fair, kHint * static_cast<double>(each.capacity));
    bins.push_back(bin);
  }
  return bins;
}

void DicerPolicy::assign(const Survey& survey) {
  wanted_.clear();
  std::vector<Bin> nodes = bins(survey);
  std::vector<Slice> slices = split(survey, nodes);
  for (const Slice& slice : slices) {
    const auto bin = std::ranges::find(nodes, slice.owner, &Bin::id);
    if (bin != nodes.end()) bin->load += slice.load;
  }
  for (std::size_t step = 0; step < kStepsMax && place_one(nodes, slices); ++step) continue;
  for (const Slice& slice : slices) {
    if (slice.owner != slice.before) wanted_[{slice.before, slice.owner}].push_back(slice.range);
  }
}

std::vector<Slice> DicerPolicy::split(const Survey& survey, const std::vector<Bin>& bins) const {
  std::vector<Slice> slices;
  for (const SurveyRange& range : survey.ranges()) {
    const auto bin = std::ranges::find(bins, range.owner, &Bin::id);
    if (range.in_flight || bin == bins.end()) continue;
    std::uint64_t sampled = 0;
    for (const heat::TokenLoad& each : range.tokens) sampled += each.load;
    const double load = loads_.at(range.range);
    const double scale = sampled == 0 ? 0 : load / static_cast<double>(sampled);
    if (load <= bin->tolerance || sampled == 0) {
      slices.push_back({range.range, range.owner, range.owner, load});
    } else {
      halve(range, scale, bin->tolerance, slices);
    }
  }
  return slices;
}

// Slices of at most `most` load where tokens allow it; a top token is one of its own.
void DicerPolicy::halve(const SurveyRange& range, double scale, double most,
                        std::vector<Slice>& slices) const {
  double load = 0;
  for (const heat::TokenLoad& each : range.tokens) load += static_cast<double>(each.load) * scale;
  std::optional<Token> last = load > most ? half_point(range, 100) : std::nullopt;
  const auto top = std::ranges::max_element(range.tokens, {}, &heat::TokenLoad::load);
  if (load > most && range.tokens.size() > 1 &&
      static_cast<double>(top->load) * scale * kTopKeyShare >= load) {
    const bool at_front = top->token == range.range.first;
    last = at_front ? top->token : Token{top->token.value() - 1};
    if (*last == range.range.last) last.reset();
  }
  if (!last || range.range.first == range.range.last) {
    slices.push_back({range.range, range.owner, range.owner, load});
    return;
  }
  SurveyRange left = range;
  SurveyRange right = range;
  left.range.last = *last;
  right.range.first = Token{last->value() + 1};
  const auto middle = std::ranges::upper_bound(range.tokens, *last, {}, &heat::TokenLoad::token);
  const auto count = static_cast<std::size_t>(middle - range.tokens.begin());
  left.tokens = range.tokens.first(count);
  right.tokens = range.tokens.subspan(count);
  halve(left, scale, most, slices);
  halve(right, scale, most, slices);
}

// The best move of a slice away from the hottest node; false when none improves the objective.
bool DicerPolicy::place_one(std::vector<Bin>& bins, std::vector<Slice>& slices) {
  const auto level = [](const Bin& bin) { return bin.load / bin.fair; };
  const auto hottest = std::ranges::max_element(bins, {}, level);
  if (hottest == bins.end() || hottest->fair <= 0) return false;
  Slice* best = nullptr;
  Bin* target = nullptr;
  double best_delta = kImprovement;
  for (Slice& slice : slices) {
    if (slice.owner != hottest->id) continue;
    const double relief =
        penalty(*hottest, hottest->load - slice.load) - penalty(*hottest, hottest->load);
    const double churn = slice.owner == slice.before ? kChurn * slice.load : 0;
    for (Bin& bin : bins) {
      if (bin.id == hottest->id) continue;
      const double delta =
          relief + churn + penalty(bin, bin.load + slice.load) - penalty(bin, bin.load);
      if (delta >= best_delta) continue;
      best_delta = delta;
      best = &slice;
      target = &bin;
    }
  }
  if (best == nullptr) return false;
  hottest->load -= best->load;
  target->load += best->load;
  best->owner = target->id;
  return true;
}

// What is left of the assignment, where both nodes are free for a move.
void DicerPolicy::carry_out(Survey& survey, Proposal& proposal) {
  for (auto pair = wanted_.begin(); pair != wanted_.end();) {
    const auto [source, destination] = pair->first;
    if (survey.node(source).busy || survey.node(destination).busy) {
      ++pair;
      continue;
    }
    proposal.plan.moves.push_back(
        survey.move(source, destination, pair->second, "the new assignment has it there"));
    pair = wanted_.erase(pair);
  }
}

std::vector<ring::TokenRange> DicerPolicy::merges(const Survey& survey) {
  std::size_t cuts = 0;
  for (const SurveyRange& each : survey.ranges()) cuts += each.cut != nullptr ? 1 : 0;
  const std::size_t most = kSlicesPerNode * survey.nodes().size();
  if (cuts <= most) return {};
  std::vector<Neighbours> pairs = survey.neighbours();
  std::ranges::stable_sort(pairs, {}, &Neighbours::load);
  std::vector<ring::TokenRange> merges;
  for (const Neighbours& pair : pairs) {
    if (merges.size() >= std::min(kMergesAtOnce, cuts - most)) break;
    const auto meets = [&](const ring::TokenRange& other) { return other.overlaps(pair.range); };
    if (std::ranges::none_of(merges, meets)) merges.push_back(pair.range);
  }
  return merges;
}

}  // namespace

std::unique_ptr<Policy> make_dicer_policy(std::uint64_t /*seed*/) {
  return std::make_unique<DicerPolicy>();
}

}  // namespace cleave::rehearse
