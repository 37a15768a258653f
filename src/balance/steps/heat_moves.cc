#include "balance/steps/heat_moves.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "balance/input/pieces.h"
#include "balance/plan/text.h"
#include "balance/steps/leveller.h"
#include "balance/steps/parting.h"
#include "balance/steps/parts.h"
#include "balance/steps/targets.h"
#include "balance/steps/unsplittable.h"
#include "base/ppm.h"
#include "base/rng.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kLight = 8;  // times the mean load of a key

// The most that the source may give so that it is not below the destination afterwards.
std::uint64_t in_order(const BoardNode& source, const BoardNode& destination) {
  const Wide has = Wide{source.load} * destination.fair;
  const Wide other = Wide{destination.load} * source.fair;
  const Wide fair = Wide{source.fair} + destination.fair;
  return has <= other ? 0 : static_cast<std::uint64_t>((has - other) / fair);
}

Pieces one_token(Token token, std::uint64_t load) {
  Window window{.range = {token, token}, .load = load, .keys = 1};
  window.boundaries = 2;
  return {.windows = {window}, .load = load, .keys = 1};
}

class HeatPlanner : private Leveller {
 public:
  HeatPlanner(Board& board, const Calm& calm, const HeatTask& task, Plan& plan)
      : Leveller(board, calm, plan),
        task_(task),
        goal_(task.goal),
        targets_(board, calm),
        rng_(board.input().seed),
        heavy_(plan.heavy),
        load_a_piece_(load_a_piece()) {}

  void run() {
    for (const NodeId id : hot_nodes()) help(id);
    if (task_.engaged == Engaged::kIdle) return;
    // Then what costs next to nothing, of those that are near the goal already.
    polishing_ = true;
    goal_ = {.stop_ppm = std::max(constants_.polish_stop_ppm, polished(goal_.stop_ppm)),
             .sink_ppm = std::max(constants_.polish_sink_ppm, polished(goal_.sink_ppm))};
    for (const NodeId id : hot_nodes()) {
      const BoardNode& node = board_.node(id);
      if (node.moves_in == 0 && node.moves_out == 0) help(id);
    }
  }

 private:
  // What the tries for one source came to, for the verdict.
  struct Tries {
    bool lacked_keys = false;
    bool lacked_cuts = false;
    bool no_memory = false;
    bool dear = false;   // a piece would help, but less than the scan for it costs
    bool waits = false;  // for the slow trigger: it would cost more than next to nothing
    Candidates targets = {};
  };

  std::vector<NodeId> hot_nodes() const;
  // Where one token keeps the goal high, there is nothing to polish.
  std::uint32_t polished(std::uint32_t level) const {
    return plan_.bound_ppm > constants_.polish_stop_ppm ? level : 0;
  }
  // With a tenth of the budget: what is only a little high.
  bool careful() const {
    return task_.engaged == Engaged::kSlow || task_.engaged == Engaged::kCheap;
  }
  std::uint32_t divisor() const { return careful() ? constants_.slow_divisor : 1; }
  bool cheap_only() const { return polishing_ || task_.engaged == Engaged::kCheap; }
  bool costs_little(const BoardNode& source, const Pieces& pieces) const;
  void help(NodeId id);
  bool try_targets(const BoardNode& source, Tries& tries);
  bool try_larger(const BoardNode& source, Tries& tries);
  void take(PlannedMove move, Tries& tries);
  std::string refusal(const BoardNode& source, Verdict& verdict) const;
  std::optional<PlannedMove> attempt(const BoardNode& source, const BoardNode& target, Tries& tries,
                                     std::string& no);
  bool try_parting(const BoardNode& source, PartingFor why, Tries& tries);
  bool light(const BoardNode& source, const PlannedMove& move) const;
  std::vector<Stretch> stretches(const BoardNode& source, const BoardNode& target) const;
  std::optional<PlannedMove> move_if_worth(const BoardNode& source, const BoardNode& target,
                                           const Pieces& pieces, Tries& tries, std::string& no);
  Pieces heavy_token(const std::vector<Stretch>& from, const BoardNode& source,
                     std::uint64_t load_max) const;
  bool worth_it(const BoardNode& source, const BoardNode& target, const Pieces& pieces,
                Tries& tries) const;
  PlannedMove move_of(const BoardNode& source, const BoardNode& target, const Pieces& pieces) const;
  bool out_of_reach(const Candidates& targets) const;
  void explain(const BoardNode& source, const Tries& tries);
  std::optional<Verdict> out_of_budget(const BoardNode& source, const Tries& tries) const;
  std::optional<Verdict> must_wait(const BoardNode& source, const Tries& tries) const;
  bool held(const BoardNode& source, const ring::RangeSet& ranges) const;
  std::optional<HeavyToken> heaviest_on(NodeId node) const;
  std::uint32_t hour_ppm() const;
  std::uint64_t keys_left(const BoardNode& source) const;
  Price price(const BoardNode& source) const;
  std::uint64_t excess(const BoardNode& node) const {
    return above(node.load, ppm_of(node.fair, goal_.sink_ppm));
  }
  // What is expected of the node, where that is why it is too hot; else nullptr.
  const Phantom* phantom_of(const BoardNode& node) const {
    const auto found = task_.phantoms.find(node.id);
    if (found == task_.phantoms.end()) return nullptr;
    return found->second.load >= excess(node) / 2 ? &found->second : nullptr;
  }
  std::uint64_t gain_min(const BoardNode& node) const {
    const std::uint64_t of_fair = ppm_of(node.fair, constants_.gain_min_ppm);
    if (polishing_) return std::max<std::uint64_t>(1, of_fair);
    if (node.level() <= ppm_of(plan_.bound_ppm, constants_.near_bound_ppm))
      return std::max<std::uint64_t>(1, of_fair);
    const std::uint64_t of_excess = ppm_of(excess(node), constants_.gain_excess_ppm);
    return std::max<std::uint64_t>(1, std::min(of_fair, of_excess));
  }
  // What a move takes of the source's time, however little it moves.
  Wide scan_ns(const BoardNode& source) const {
    return Wide{source.keys} * constants_.scan_ns_per_key;
  }
  // The cuts that are left should be enough for twice of what is too much anywhere: in a small pool
  // narrow pieces would use them up before the goal. Each piece takes two.
  std::uint64_t load_a_piece() const {
    std::uint64_t all = 0;
    for (const BoardNode& each : board_.nodes()) all += each.draining ? 0 : excess(each);
    return 4 * (all / std::max(cuts_left_, 1U));
  }
  std::uint64_t piece_min(const BoardNode& source) const {
    const std::uint64_t least =
        std::max(ppm_of(source.fair, constants_.piece_min_ppm), load_a_piece_);
    return std::max<std::uint64_t>(1, std::min(least, excess(source) / 2));
  }
  bool urgent(const BoardNode& node) const {
    return Wide{node.load} * kMillion >= Wide{node.capacity} * constants_.urgent_capacity_ppm;
  }

  const HeatTask& task_;
  Goal goal_;               // now
  bool polishing_ = false;  // only what costs next to nothing, and no word about what does not
  Targets targets_;
  Rng rng_;
  std::vector<HeavyToken> heavy_;  // heaviest first; planned moves done
  std::uint64_t load_a_piece_;
};

// Worst first.
std::vector<NodeId> HeatPlanner::hot_nodes() const {
  std::vector<std::pair<std::uint32_t, NodeId>> hot;
  for (const BoardNode& each : board_.nodes()) {
    const bool little = Wide{above(each.load, each.fair)} * kMillion <
                        Wide{each.capacity} * constants_.calm_capacity_ppm;
    if (each.draining || little || each.level() <= goal_.stop_ppm) continue;
    if (task_.engaged != Engaged::kIdle || phantom_of(each) != nullptr) {
      hot.emplace_back(each.level(), each.id);
    }
  }
  std::ranges::sort(hot, [](const auto& left, const auto& right) {
    return left.first != right.first ? left.first > right.first : left.second < right.second;
  });
  std::vector<NodeId> ids;
  ids.reserve(hot.size());
  for (const auto& [level, id] : hot) ids.push_back(id);
  return ids;
}

// One move after the other, to one node after the other, for as long as the source may give and is
// above the stop level.
void HeatPlanner::help(NodeId id) {
  for (std::size_t moves = 0; board_.node(id).level() > goal_.stop_ppm; ++moves) {
    const BoardNode source = board_.node(id);
    Verdict verdict{.node = id};
    verdict.text = refusal(source, verdict);
    Tries tries;
    if (verdict.text.empty() && try_targets(source, tries)) continue;
    if (moves > 0 || polishing_) return;  // it is being helped, or well enough
    if (verdict.text.empty()) {
      explain(source, tries);
    } else {
      plan_.verdicts.push_back(verdict);
    }
    return;
  }
}

bool HeatPlanner::try_targets(const BoardNode& source, Tries& tries) {
  tries.lacked_keys = keys_left(source) == 0;
  tries.lacked_cuts = cuts_left_ < 2;
  if (tries.lacked_keys || tries.lacked_cuts) return false;
  tries.targets = targets_.of(source, rng_);
  if (try_larger(source, tries) || try_parting(source, PartingFor::kNeed, tries)) return true;
  for (const NodeId id : tries.targets.nodes) {
    std::string no;
    if (auto move = attempt(source, board_.node(id), tries, no)) {
      if (light(source, *move) && try_parting(source, PartingFor::kGain, tries)) return true;
      take(std::move(*move), tries);
      return true;
    }
    if (tries.targets.rejected.size() < kAlternativesMax) {
      tries.targets.rejected.push_back({id, std::move(no)});
    }
  }
  return false;
}

void HeatPlanner::take(PlannedMove move, Tries& tries) {
  Leveller::take(std::move(move), std::exchange(tries.targets.rejected, {}));
  const PlannedMove& taken = plan_.moves.back();
  targets_.update(taken.source);
  targets_.update(taken.destination);
  for (HeavyToken& each : heavy_) {
    if (ring::contains(taken.ranges, each.token)) each.node = taken.destination;
  }
}

// A token that alone is too much for its node, but not for a larger one: all that could be done
// otherwise is to move everything else away from it, in vain. The larger node, which may end above
// the smaller one, gives of its own to others then. ADR 12.
bool HeatPlanner::try_larger(const BoardNode& source, Tries& tries) {
  const auto heavy = heaviest_on(source.id);
  if (!heavy || heavy->load <= ppm_of(source.fair, goal_.stop_ppm)) return false;
  const BoardNode* best = nullptr;
  std::uint64_t below = source.level() - ppm_of(source.level(), constants_.larger_gain_ppm) + 1;
  for (const BoardNode& each : board_.nodes()) {
    if (Wide{each.fair} * kMillion < Wide{source.fair} * constants_.larger_ppm) continue;
    const std::uint32_t level = level_ppm(each.load + heavy->load, each.fair);
    if (level >= below || !targets_.open_to(source, each)) continue;
    below = level;
    best = &each;
  }
  if (best == nullptr) return false;
  const BoardNode target = *best;
  const Pieces pieces = heavy_token(stretches(source, target), source, heavy->load);
  std::string no;
  auto move = move_if_worth(source, target, pieces, tries, no);
  if (move) take(std::move(*move), tries);
  return move.has_value();
}

// Heavy tokens that share a node go first, one by one: what is light around them is given away
// afterwards, when it is known how much of it must be.
bool HeatPlanner::try_parting(const BoardNode& source, PartingFor why, Tries& tries) {
  const PartingTask task{
      .board = board_, .calm = calm_, .goal = goal_, .heavy = heavy_, .why = why};
  const auto parting = choose_parting(task, source, tries.targets.nodes);
  if (!parting) return false;
  const BoardNode target = board_.node(parting->target);
  std::string no;
  auto move = move_if_worth(source, target, one_token(parting->token, parting->load), tries, no);
  if (move) take(std::move(*move), tries);
  return move.has_value();
}

// Why nothing is even tried for the node; "" = it is.
std::string HeatPlanner::refusal(const BoardNode& source, Verdict& verdict) const {
  const std::string who = "node '" + source.name + "' is at " + times(source.level());
  if (!source.no_source.empty()) return who + ", but " + vetoed(source, verdict);
  if (source.moves_out >= constants_.moves_out_max) {
    verdict.why = Why::kInFlight;
    return who + " even after its move under way; the next one waits for it";
  }
  verdict.until = calm_.rests_until(source.id);
  if (verdict.until != UnixMillis{}) {
    verdict.why = Why::kRests;
    return who + ", but its last moves brought less than " +
           percent(constants_.helped_ppm, kMillion) + " of what was predicted";
  }
  return "";
}

// Keys that carry little more than any: many of them go for little.
bool HeatPlanner::light(const BoardNode& source, const PlannedMove& move) const {
  return Wide{move.load} * source.keys < Wide{move.keys} * source.fair * kLight;
}

std::optional<PlannedMove> HeatPlanner::attempt(const BoardNode& source, const BoardNode& target,
                                                Tries& tries, std::string& no) {
  const std::vector<Stretch> from = stretches(source, target);
  const std::uint64_t room = room_of(target, constants_);
  const Appetite appetite{
      .load = std::min(excess(source),
                       static_cast<std::uint64_t>(Wide{room} * kMillion / constants_.unseen_ppm)),
      .load_min = gain_min(source),
      .keys_max = keys_left(source),
      .cuts_max = cuts_left_,
      .piece_min = piece_min(source),
      .heavy_load = ppm_of(source.fair, constants_.single_ppm),
      .piece_keys =
          std::min(constants_.piece_keys_min, keys_a_plan(board_) / (4 * constants_.pieces_usual))};
  Pieces pieces = choose_pieces(from, price(source), appetite, constants_);
  tries.lacked_keys = tries.lacked_keys || pieces.lacked_keys;
  tries.lacked_cuts = tries.lacked_cuts || pieces.lacked_cuts;
  while (!pieces.windows.empty() && pieces.load > in_order(source, target)) {
    pieces.load -= pieces.windows.back().load;
    pieces.keys -= pieces.windows.back().keys;
    pieces.windows.pop_back();
  }
  if (!worth_it(source, target, pieces, tries)) {
    // It lifts the target above the mean, but lowers the peak; the target's lighter load then finds
    // room elsewhere.
    pieces = heavy_token(from, source, in_order(source, target));
  }
  no = room == 0 ? "it has no room" : "no piece that it has room for would help enough";
  return move_if_worth(source, target, pieces, tries, no);
}

// `no`: why not, when it is not worth it; replaced when there is another reason.
std::optional<PlannedMove> HeatPlanner::move_if_worth(const BoardNode& source,
                                                      const BoardNode& target, const Pieces& pieces,
                                                      Tries& tries, std::string& no) {
  if (!worth_it(source, target, pieces, tries)) return std::nullopt;
  PlannedMove move = move_of(source, target, pieces);
  if (!fits_memory(target, move, constants_)) {
    tries.no_memory = true;
    no = "it lacks memory for " + bytes_text(move.bytes);
    return std::nullopt;
  }
  for (const Window& each : pieces.windows) spend_cuts(cuts_of(each));
  return move;
}

std::vector<Stretch> HeatPlanner::stretches(const BoardNode& source,
                                            const BoardNode& target) const {
  std::vector<Stretch> result;
  for (const Offer& each : offers(source, target)) {
    const BoardRange& from = *each.of;
    result.push_back({.range = each.range,
                      .load = board_.load_in(from, each.range),
                      .tokens = board_.tokens_in(from, each.range),
                      .fresh_cut = from.fresh_cut || calm_.cut_just_now(from.range)});
  }
  return result;
}

// The heaviest token with at most so much load, alone; no windows when there is none.
Pieces HeatPlanner::heavy_token(const std::vector<Stretch>& from, const BoardNode& source,
                                std::uint64_t load_max) const {
  const heat::TokenLoad* best = nullptr;
  for (const Stretch& stretch : from) {
    for (const heat::TokenLoad& each : stretch.tokens) {
      if (each.load < ppm_of(source.fair, constants_.heavy_ppm)) continue;
      if (each.samples < constants_.piece_samples_min || each.load > load_max) continue;
      if (best == nullptr || each.load > best->load) best = &each;
    }
  }
  if (best == nullptr || cuts_left_ < 2 || keys_left(source) < 1) return {};
  return one_token(best->token, best->load);
}

// Large enough against what is too much, and against the time that the scan takes from the source.
bool HeatPlanner::worth_it(const BoardNode& source, const BoardNode& target, const Pieces& pieces,
                           Tries& tries) const {
  if (pieces.windows.empty()) return false;
  std::vector<ring::TokenRange> ranges;
  ranges.reserve(pieces.windows.size());
  for (const Window& each : pieces.windows) ranges.push_back(each.range);
  // Tokens that have left the target before flap: going back must gain more each time.
  const std::uint32_t flaps =
      std::min(calm_.flaps(target.id, ring::normalised(std::move(ranges))), constants_.flaps_max);
  if (Wide{pieces.load} < Wide{gain_min(source)} << flaps) return false;
  if (cheap_only() && phantom_of(source) == nullptr && !costs_little(source, pieces)) {
    tries.waits = true;
    return false;
  }
  if (Wide{pieces.load} * constants_.worth_seconds >= scan_ns(source)) return true;
  tries.dear = true;
  return false;
}

bool HeatPlanner::costs_little(const BoardNode& source, const Pieces& pieces) const {
  const Wide cost = scan_ns(source) + Wide{pieces.keys} * constants_.move_ns_per_key;
  return Wide{pieces.load} * constants_.cheap_seconds >= cost;
}

PlannedMove HeatPlanner::move_of(const BoardNode& source, const BoardNode& target,
                                 const Pieces& pieces) const {
  Cargo cargo{.load = pieces.load, .keys = pieces.keys};
  const Price by = board_.price_of(source);
  for (const Window& each : pieces.windows) {
    cargo.ranges.push_back(each.range);
    cargo.bytes += by.bytes_in(each.range, each.keys);
  }
  const Phantom* phantom = phantom_of(source);
  const Cause cause = phantom != nullptr ? Cause::kPresplit
                      : careful()        ? Cause::kSlow
                      : urgent(source)   ? Cause::kUrgent
                                         : Cause::kHot;
  PlannedMove move = balance::move_of(source, target, std::move(cargo), cause);
  if (phantom != nullptr) move.pin_until = phantom->until;
  move.reason = std::string(to_string(move.cause)) + ": '" + source.name + "' at " +
                times(source.level()) + " of its fair load (" +
                percent(source.load, source.capacity) + " of its capacity) gives " +
                counted(move.ranges.size(), "range") + " with " + percent(move.load, source.load) +
                " of its load and " + percent(move.keys, source.keys) + " of its keys to '" +
                target.name + "' at " + times(target.level()) + "; after it " +
                times(level_ppm(move.source_after, source.fair)) + " and " +
                times(level_ppm(move.destination_after, target.fair)) +
                (phantom == nullptr ? "" : "; expected: " + phantom->event);
  return move;
}

// Of all keys, in an hour.
std::uint32_t HeatPlanner::hour_ppm() const {
  return careful() ? constants_.hour_keys_ppm / constants_.slow_divisor
                   : constants_.urgent_hour_keys_ppm;
}

std::uint64_t HeatPlanner::keys_left(const BoardNode& source) const {
  if (phantom_of(source) != nullptr) return std::max<std::uint64_t>(source.keys, 1);
  return Leveller::keys_left(hour_ppm(), divisor());
}

// In a small pool the budget is small, and what a piece costs beside its keys must be too, or the
// budget would be spent on a few wide windows where many narrow ones do more.
Price HeatPlanner::price(const BoardNode& source) const {
  Price price = board_.price_of(source);
  const Wide budget =
      Wide{keys_a_plan(board_)} * price.bytes_per_key / (Wide{4} * constants_.pieces_usual);
  price.piece_bytes =
      static_cast<std::uint64_t>(std::clamp(budget, Wide{1}, Wide{constants_.piece_bytes}));
  return price;
}

std::optional<HeavyToken> HeatPlanner::heaviest_on(NodeId node) const {
  const auto found = std::ranges::find(heavy_, node, &HeavyToken::node);
  return found == heavy_.end() ? std::nullopt : std::optional(*found);
}

// The node with most room is one that may take nothing.
bool HeatPlanner::out_of_reach(const Candidates& targets) const {
  if (targets.rejected.empty()) return false;
  const std::uint32_t level = board_.node(targets.rejected.front().node).level();
  return targets.nodes.empty() || level < board_.node(targets.nodes.front()).level();
}

// Why nothing more is tried although it would help: what has to be paid for it is not there.
std::optional<Verdict> HeatPlanner::out_of_budget(const BoardNode& source,
                                                  const Tries& tries) const {
  Verdict verdict{.node = source.id};
  if (tries.waits) {
    const NodeTrigger* const state = find_node(plan_.trigger, source.id);
    verdict.text = "what could be moved costs more than next to nothing";
    if (state != nullptr && state->warm_since != UnixMillis{}) {
      verdict.why = Why::kNotLongEnough;
      verdict.until = UnixMillis{state->warm_since.value() + constants_.slow_after.count()};
      verdict.text += ": acts when it lasts";
    }
  } else if (tries.dear && keys_left(source) > 0) {
    const auto scan_ms = static_cast<std::uint64_t>(scan_ns(source) / 1'000'000);
    verdict.text = "what may be moved at once is not worth the " + std::to_string(scan_ms) +
                   " ms of its time that a look at its " + std::to_string(source.keys) +
                   " keys takes";
  } else if (tries.lacked_keys || keys_left(source) == 0) {
    // Until a whole plan's may be moved again.
    verdict.text = no_keys(keys_a_plan(board_) / divisor(), hour_ppm(), verdict) + ": " +
                   std::to_string(calm_.keys_last_hour() + keys_used_) + " moved in this hour";
  } else if (tries.lacked_cuts) {
    verdict.text = no_cuts(verdict);
  } else if (tries.no_memory) {
    verdict.why = Why::kNoTarget;
    verdict.text = "the nodes with room for its load lack memory for its keys";
  } else {
    return std::nullopt;
  }
  return verdict;
}

// Whether so much of the source's load lies in these ranges that moving it would help.
bool HeatPlanner::held(const BoardNode& source, const ring::RangeSet& ranges) const {
  std::uint64_t load = 0;
  for (const BoardRange& each : board_.ranges_of(source.id)) {
    load += each.load;
    for (const ring::TokenRange& free : ring::outside(each.range, ranges)) {
      load -= std::min(load, board_.load_in(each, free));
    }
  }
  return load >= gain_min(source);
}

std::optional<Verdict> HeatPlanner::must_wait(const BoardNode& source, const Tries& tries) const {
  Verdict verdict{.node = source.id};
  const auto& open = tries.targets.nodes;
  if (tries.targets.pair_rests_until != UnixMillis{}) {
    verdict.why = Why::kRests;
    verdict.until = tries.targets.pair_rests_until;
    verdict.text = "the last moves to nodes with room were aborted; tried again soon";
  } else if (held(source, calm_.dwelling())) {
    verdict.text = dwells(source, verdict);
  } else if (!open.empty() && held(source, calm_.left(open.front()))) {
    verdict.why = Why::kDwell;
    verdict.text = "what could be given came from '" + board_.node(open.front()).name +
                   "', which has room, and may not go back so soon";
  } else {
    return std::nullopt;
  }
  return verdict;
}

// The likeliest reason why none of the targets could help.
void HeatPlanner::explain(const BoardNode& source, const Tries& tries) {
  const std::uint64_t much = above(source.load, excess(source) / 2);
  const std::vector<HeavyToken> heavy = heavy_on(heavy_, source.id);
  std::uint64_t together = 0;
  for (const HeavyToken& each : heavy) together += each.load;
  const bool one = !heavy.empty() && heavy.front().load >= much;
  Verdict verdict{.node = source.id, .text = "no piece of it would help enough to be worth a move"};
  std::optional<Verdict> known;
  if (!one) known = out_of_budget(source, tries);
  if (!one && !known) known = must_wait(source, tries);
  if (known) {
    verdict = *std::move(known);
  } else if (!one && out_of_reach(tries.targets)) {
    const Alternative& first = tries.targets.rejected.front();
    verdict.why = Why::kNoTarget;
    verdict.text = "nobody with room may take anything; for one, '" + board_.node(first.node).name +
                   "': " + first.why;
  }
  if (one || (verdict.why == Why::kTooSmall && !tries.dear && together >= much)) {
    verdict = unsplittable(source, source.load, ppm_of(source.fair, goal_.sink_ppm), heavy);
  } else {
    verdict.text =
        "node '" + source.name + "' is at " + times(source.level()) + ", but " + verdict.text;
  }
  verdict.alternatives = tries.targets.rejected;
  plan_.verdicts.push_back(std::move(verdict));
}

}  // namespace

void plan_heat(Board& board, const Calm& calm, const HeatTask& task, Plan& plan) {
  HeatPlanner(board, calm, task, plan).run();
}

}  // namespace cleave::balance
