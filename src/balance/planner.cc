#include "balance/planner.h"

#include <algorithm>
#include <bit>

#include "balance/back_moves.h"
#include "balance/board.h"
#include "balance/bound.h"
#include "balance/calm.h"
#include "balance/heat_moves.h"
#include "balance/memory_moves.h"
#include "balance/merges.h"
#include "balance/staged_moves.h"
#include "balance/text.h"
#include "base/check.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::size_t kHeavyMax = 32;

// The nodes as they are, moves in flight not done: what the trigger judges.
std::vector<Level> levels_of(const Board& board) {
  heat::Load total;
  Wide capacity = 0;
  for (const heat::NodeLoad& each : board.input().picture.nodes) total += each.load;
  for (const BoardNode& each : board.nodes()) capacity += each.capacity;
  std::vector<Level> levels;
  for (const BoardNode& each : board.nodes()) {
    if (each.draining) continue;
    Level level{.node = each.id, .capacity = each.capacity};
    const auto& nodes = board.input().picture.nodes;
    const auto seen = std::ranges::lower_bound(nodes, each.id, {}, &heat::NodeLoad::node);
    if (seen != nodes.end() && seen->node == each.id) level.load = seen->load;
    level.fair = {.tick = scaled(total.tick, each.capacity, capacity),
                  .mean = scaled(total.mean, each.capacity, capacity),
                  .slow = scaled(total.slow, each.capacity, capacity),
                  .peak = scaled(total.peak, each.capacity, capacity)};
    levels.push_back(level);
  }
  return levels;
}

std::uint32_t bound_of(const Board& board) {
  std::vector<std::uint64_t> tokens;
  for (const heat::TokenLoad& each : board.input().picture.tokens) {
    if (each.samples >= board.constants().piece_samples_min) tokens.push_back(each.load);
  }
  std::vector<std::uint64_t> capacities;
  for (const BoardNode& each : board.nodes()) {
    if (!each.draining) capacities.push_back(each.capacity);
  }
  return bound_ppm(tokens, board.total_load(), capacities);
}

// With moves in flight done.
NodeId owner_of(const Board& board, Token token) {
  const ring::RingView& view = *board.input().view;
  const ring::Entry& entry = view.entry(view.find(token));
  return entry.move == ring::kNone ? entry.node : view.document().moves[entry.move].destination;
}

std::vector<HeavyToken> heavy_of(const Board& board) {
  std::vector<HeavyToken> heavy;
  const heat::Picture& picture = board.input().picture;
  for (const heat::TokenLoad& each : picture.tokens) {
    if (each.samples < board.constants().piece_samples_min) continue;
    const BoardNode& owner = board.node(owner_of(board, each.token));
    if (owner.fair == 0) continue;
    const std::uint32_t ppm = level_ppm(each.load, owner.fair);
    if (ppm < board.constants().heavy_ppm) continue;
    heavy.push_back({.token = each.token, .node = owner.id, .load = each.load, .ppm = ppm});
  }
  std::ranges::sort(heavy, [](const HeavyToken& left, const HeavyToken& right) {
    return left.load != right.load ? left.load > right.load : left.token < right.token;
  });
  if (heavy.size() > kHeavyMax) heavy.resize(kHeavyMax);
  for (HeavyToken& each : heavy) each.key = heat::key_at(picture, each.token);
  return heavy;
}

// Whether a node is being given its share of the ring (a join, a raised weight). It begins far
// below and goes on until nearly there, and pauses while the node has its share of the load.
void update_filling(const Board& board, const Calm& calm, const Trigger& before, Trigger& next) {
  for (NodeTrigger& each : next.nodes) {
    const NodeTrigger* known = find_node(before, each.node);
    const bool was = known != nullptr && known->filling;
    const BoardNode& node = board.node(each.node);
    const std::uint32_t until =
        was ? board.constants().join_until_ppm : board.constants().join_below_ppm;
    const Wide enough = node.fair_width / kMillion * until;
    Wide width = node.width;
    if (width < enough) width += calm.given(each.node);
    each.filling = width < enough;
  }
}

std::string trust(const Board& board, Why& why) {
  const Input& input = board.input();
  if (input.picture.sources.empty()) {
    why = Why::kNoHeat;
    return "no router has reported heat yet";
  }
  const std::uint32_t silent = heat::silent_ppm(input.picture);
  if (silent > input.constants.silent_ppm) {
    why = Why::kNoHeat;
    return percent(silent, kMillion) + " of the load is of routers that are silent";
  }
  const std::uint64_t down = std::uint64_t{board.unhealthy()} * kMillion;
  if (down > board.nodes().size() * std::uint64_t{input.constants.unhealthy_ppm}) {
    why = Why::kTooManyDown;
    return std::to_string(board.unhealthy()) + " of " + std::to_string(board.nodes().size()) +
           " nodes are not healthy; load says little now";
  }
  return "";
}

// Hot nodes that the trigger does not believe yet.
void explain_waiting(const Board& board, const std::vector<Level>& levels, Plan& plan) {
  const Constants& constants = board.constants();
  for (const Level& level : levels) {
    const NodeTrigger* state = find_node(plan.trigger, level.node);
    const std::string& name = board.node(level.node).name;
    if (state->hot_ticks != 0) {
      const std::string who = "node '" + name + "' is at " +
                              times(level_ppm(level.load.mean, level.fair.mean)) + ", hot in ";
      plan.verdicts.push_back({.why = Why::kNotLongEnough,
                               .node = level.node,
                               .text = who + std::to_string(std::popcount(state->hot_ticks)) +
                                       " of the last " + std::to_string(constants.hot_ticks_of) +
                                       " ticks; acts at " + std::to_string(constants.hot_ticks)});
    } else if (state->warm_since != UnixMillis{}) {
      const std::int64_t since = state->warm_since.value();
      plan.verdicts.push_back({.why = Why::kNotLongEnough,
                               .node = level.node,
                               .text = "node '" + name + "' is a little high at " +
                                       times(level_ppm(level.load.slow, level.fair.slow)) +
                                       "; acts when it lasts",
                               .until = UnixMillis{since + constants.slow_after.count()}});
    }
  }
}

std::uint32_t cuts_left(const Board& board) {
  const Constants& constants = board.constants();
  const std::size_t by_nodes = board.nodes().size() * constants.cuts_per_node;
  const std::size_t most = std::min<std::size_t>(by_nodes, constants.cuts_max);
  const std::size_t cuts = board.input().view->document().cuts.size();
  return static_cast<std::uint32_t>(most - std::min(most, cuts));
}

std::string advice_of(const Board& board) {
  Wide capacity = 0;
  std::uint64_t nodes = 0;
  for (const BoardNode& each : board.nodes()) {
    capacity += each.capacity;
    nodes += each.draining ? 0U : 1U;
  }
  const Wide load = board.total_load();
  const Constants& constants = board.constants();
  if (load == 0 || load * kMillion < capacity * constants.advise_ppm) return "";
  const Wide each_to = capacity / nodes * constants.advise_to_ppm / kMillion;
  const auto wanted = static_cast<std::uint64_t>((load + each_to - 1) / each_to);
  if (wanted <= nodes) return "";
  return "all nodes together are at " +
         percent(board.total_load(), static_cast<std::uint64_t>(capacity)) +
         " of their capacity, which no move can better: add " + std::to_string(wanted - nodes) +
         " node(s)";
}

// Moves by load, unless something says that load is no guide now.
void plan_load(Board& board, const Calm& calm, const std::vector<Level>& levels,
               std::uint32_t stop_ppm, Plan& plan) {
  if (plan.trigger.engaged == Engaged::kIdle) {
    explain_waiting(board, levels, plan);
    plan_gather(board, calm, plan);
    return;
  }
  const HeatTask task{.engaged = plan.trigger.engaged,
                      .stop_ppm = stop_ppm,
                      .bound_ppm = plan.bound_ppm,
                      .cuts_left = cuts_left(board)};
  plan_heat(board, calm, task, plan);
}

void plan_all(Board& board, const Calm& calm, const std::vector<Level>& levels,
              std::uint32_t stop_ppm, Plan& plan) {
  const Input& input = board.input();
  plan_drains(board, plan);
  Verdict doubt;
  doubt.text = trust(board, doubt.why);
  if (input.orders.flatten) {
    plan_flatten(board, plan);
  } else {
    plan_joins(board, calm, plan);
    if (doubt.text.empty()) {
      plan_load(board, calm, levels, stop_ppm, plan);
      plan_memory(board, calm, plan);
    } else {
      plan.verdicts.push_back(doubt);
    }
  }
  plan.merges = plan_merges(board, calm);
}

}  // namespace

Plan plan(const Input& input) {
  CHECK(input.view != nullptr);
  Plan result{.trigger = input.trigger};
  if (input.picture.epoch != input.view->epoch()) {
    result.verdicts.push_back({.why = Why::kNoHeat, .text = "the picture is of another ring"});
    return result;
  }
  Board board(input);
  const Calm calm(input);
  const std::vector<Level> levels = levels_of(board);
  for (const Level& level : levels) {
    result.peak_ppm = std::max(result.peak_ppm, level_ppm(level.load.mean, level.fair.mean));
  }
  result.bound_ppm = bound_of(board);
  result.heavy = heavy_of(board);
  result.advice = advice_of(board);
  const auto by_bound = static_cast<std::uint32_t>(std::uint64_t{result.bound_ppm} *
                                                   input.constants.stop_bound_ppm / kMillion);
  const std::uint32_t stop_ppm = std::max(input.constants.stop_ppm, by_bound);
  result.trigger = next_trigger(input.trigger, levels, stop_ppm, input.constants, input.now);
  update_filling(board, calm, input.trigger, result.trigger);
  if (input.view->document().frozen) {
    result.verdicts.push_back(
        {.why = Why::kFrozen, .text = "the pool is frozen; `resume` ends it"});
  } else {
    plan_all(board, calm, levels, stop_ppm, result);
  }
  result.predicted_ppm = board.peak_ppm();
  return result;
}

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kUrgent: return "urgent";
    case Cause::kHot: return "hot";
    case Cause::kSlow: return "slow";
    case Cause::kMemory: return "memory";
    case Cause::kDrain: return "drain";
    case Cause::kJoin: return "join";
    case Cause::kFlatten: return "flatten";
    case Cause::kGather: return "gather";
  }
  return "unknown";
}

std::string_view to_string(Why why) {
  switch (why) {
    case Why::kFrozen: return "frozen";
    case Why::kNoHeat: return "no-heat";
    case Why::kTooManyDown: return "too-many-down";
    case Why::kNotLongEnough: return "not-long-enough";
    case Why::kInFlight: return "in-flight";
    case Why::kVeto: return "veto";
    case Why::kRests: return "rests";
    case Why::kBudget: return "budget";
    case Why::kCuts: return "cuts";
    case Why::kDwell: return "dwell";
    case Why::kUnsplittable: return "unsplittable";
    case Why::kNoTarget: return "no-target";
    case Why::kTooSmall: return "too-small";
  }
  return "unknown";
}

}  // namespace cleave::balance
