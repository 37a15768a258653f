#include "balance/planner.h"

#include <algorithm>

#include "balance/plan/text.h"
#include "balance/steps/back_moves.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "balance/steps/expected.h"
#include "balance/steps/goal.h"
#include "balance/steps/heat_moves.h"
#include "balance/steps/input_check.h"
#include "balance/steps/memory_moves.h"
#include "balance/steps/memory_trigger.h"
#include "balance/steps/merges.h"
#include "balance/steps/review.h"
#include "balance/steps/staged_moves.h"
#include "base/check.h"
#include "base/ppm.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

// Why no move may begin, whatever the heat; no text: it may.
Verdict why_frozen(const ring::Document& document) {
  if (document.frozen) return {.why = Why::kFrozen, .text = "the pool is frozen; `resume` ends it"};
  if (const ring::Router* old = ring::old_reader(document); old != nullptr) {
    return {.why = Why::kUpgrade,
            .text = "router " + old->session.value() +
                    " is of an older version, which moves by other rules; upgrade it first"};
  }
  if (document.old_readers) {
    return {.why = Why::kUpgrade,
            .text = "the pool goes back to an older version; `resume` ends that"};
  }
  return {};
}

constexpr std::uint64_t kMeanSeconds = 10;  // heat::Load::mean

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

// Moves by load, unless something says that load is no guide now.
void plan_load(Board& board, const Calm& calm, const Phantoms& phantoms, const Goal& goal,
               Plan& plan) {
  if (plan.trigger.engaged == Engaged::kIdle && phantoms.empty()) {
    plan_gather(board, calm, plan);
    return;
  }
  plan_heat(board, calm, {.engaged = plan.trigger.engaged, .goal = goal, .phantoms = phantoms},
            plan);
}

void plan_all(Board& board, const Calm& calm, const Phantoms& phantoms, const Goal& goal,
              Plan& plan) {
  const Input& input = board.input();
  plan_drains(board, calm, plan);
  Verdict doubt;
  doubt.text = trust(board, doubt.why);
  if (input.orders.flatten) {
    plan_flatten(board, plan);
  } else {
    plan_joins(board, calm, plan);
    if (doubt.text.empty()) {
      plan_load(board, calm, phantoms, goal, plan);
      plan_memory(board, calm, plan);
    } else {
      plan.verdicts.push_back(doubt);
    }
  }
  plan.merges = plan_merges(board, calm);
}

// Plans in a row in which nobody was above the stop level and nothing was to be done.
std::uint8_t calm_plans(const Input& input, const std::vector<Level>& levels,
                        std::uint32_t stop_ppm, const Plan& plan) {
  const auto above = [&](const Level& each) { return above_stop(each, stop_ppm, input.constants); };
  const bool busy = !plan.moves.empty() || !input.view->document().moves.empty();
  if (busy || std::ranges::any_of(levels, above)) return 0;
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(input.trigger.calm_plans + 1U, 100U));
}

// How many requests the mean node's level is estimated from.
std::uint64_t requests_a_node(const heat::Picture& seen) {
  std::uint64_t a_second = 0;
  for (const heat::NodeLoad& each : seen.nodes) a_second += each.requests;
  const std::size_t nodes = std::max<std::size_t>(seen.nodes.size(), 1);
  return a_second * kMeanSeconds / nodes;
}

// `input` with the phantoms laid over `seen`, which is what the routers reported.
Plan plan_for(const Input& input, const heat::Picture& seen, const Phantoms& phantoms) {
  Plan result;
  Board board(input);
  const Calm calm(input);
  const std::vector<Level> levels = levels_of(board, seen);
  for (const Level& level : levels) {
    result.peak_ppm = std::max(result.peak_ppm, level_ppm(level.load.mean, level.fair.mean));
  }
  result.bound_ppm = bound_of(board);
  result.heavy = heavy_of(board);
  advise(board, result);
  const Goal goal =
      goal_of(requests_a_node(seen), result.bound_ppm, input.trigger.engaged, input.constants);
  result.trigger = next_trigger(input.trigger, levels, goal.stop_ppm, input.constants, input.now);
  update_filling(board, calm, input.trigger, result.trigger);
  update_emptying(board, input.trigger, result.trigger);
  const ring::Document& document = input.view->document();
  if (!input.view->cuttable()) {
    result.verdicts.push_back({.why = Why::kScheme,
                               .text = "scheme " + document.scheme.name +
                                       " places a key by the number of nodes: nothing can move"});
  } else if (Verdict why = why_frozen(document); !why.text.empty()) {
    result.verdicts.push_back(std::move(why));
  } else {
    plan_all(board, calm, phantoms, goal, result);
    explain_waiting(board, levels, goal.stop_ppm, result);
    explain_windows(input, result);
  }
  result.trigger.calm_plans = calm_plans(input, levels, goal.stop_ppm, result);
  result.predicted_ppm = board.peak_ppm();
  return result;
}

}  // namespace

Plan plan(const Input& input) {
  CHECK(input.view != nullptr);
  if (const Verdict doubt = distrust(input); !doubt.text.empty()) {
    Plan nothing{.trigger = input.trigger};
    nothing.verdicts.push_back(doubt);
    return nothing;
  }
  const auto now = [&](const Expected& each) { return foreseen(each, input.now); };
  if (std::ranges::none_of(input.expected, now)) return plan_for(input, input.picture, {});
  Input foreseeing = input;
  const Phantoms phantoms = lay_expected(foreseeing);
  return plan_for(foreseeing, input.picture, phantoms);
}

}  // namespace cleave::balance
