#include "balance/steps/review.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "balance/input/bound.h"
#include "balance/plan/text.h"
#include "balance/steps/unsplittable.h"
#include "base/check.h"
#include "base/ppm.h"

namespace cleave::balance {
namespace {

constexpr std::size_t kHeavyMax = 32;

// With moves in flight done.
NodeId owner_of(const Board& board, Token token) {
  const ring::RingView& view = *board.input().view;
  const ring::Entry& entry = view.entry(view.find(token));
  return entry.move == ring::kNone ? entry.node : view.document().moves[entry.move].destination;
}

}  // namespace

std::vector<Level> levels_of(const Board& board, const heat::Picture& picture) {
  std::vector<UsualLevel> usual = board.input().usual;
  std::ranges::sort(usual, {},
                    [](const UsualLevel& each) { return std::pair(each.node, each.ppm); });
  heat::Load total;
  Wide capacity = 0;
  for (const heat::NodeLoad& each : picture.nodes) total += each.load;
  for (const BoardNode& each : board.nodes()) capacity += each.capacity;
  std::vector<Level> levels;
  for (const BoardNode& each : board.nodes()) {
    if (each.draining) continue;
    Level level{.node = each.id, .capacity = each.capacity};
    const auto seen = std::ranges::lower_bound(picture.nodes, each.id, {}, &heat::NodeLoad::node);
    if (seen != picture.nodes.end() && seen->node == each.id) level.load = seen->load;
    const auto known = std::ranges::lower_bound(usual, each.id, {}, &UsualLevel::node);
    if (known != usual.end() && known->node == each.id) level.usual_ppm = known->ppm;
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

void advise(const Board& board, Plan& plan) {
  Wide capacity = 0;
  std::uint64_t nodes = 0;
  for (const BoardNode& each : board.nodes()) {
    capacity += each.capacity;
    nodes += each.draining ? 0U : 1U;
  }
  CHECK(nodes > 0);
  const Wide load = board.total_load();
  const Constants& constants = board.constants();
  if (load == 0 || load * kMillion < capacity * constants.advise_ppm) return;
  // As many more nodes of the mean capacity as bring the use down to advise_to_ppm.
  const Wide each_to =
      std::max(capacity * constants.advise_to_ppm / (Wide{kMillion} * nodes), Wide{1});
  const auto wanted = static_cast<std::uint64_t>((load + each_to - 1) / each_to);
  if (wanted <= nodes) return;
  plan.advice_nodes = wanted - nodes;
  plan.advice = "all nodes together are at " +
                percent(board.total_load(), static_cast<std::uint64_t>(capacity)) +
                " of their capacity, which no move can better: add " +
                counted(plan.advice_nodes, "node");
}

namespace {

UnixMillis slow_at(const NodeTrigger& state, const Constants& constants) {
  if (state.warm_since == UnixMillis{}) return {};
  return UnixMillis{state.warm_since.value() + constants.slow_after.count()};
}

// Of a node that the trigger sees to be high, but that nothing can be done for: nullopt when it is
// level. Its own keys are why, or those of another node.
std::optional<Verdict> at_its_bound(const Board& board, const Level& level, const Plan& plan) {
  const Constants& constants = board.constants();
  const BoardNode& node = board.node(level.node);
  const std::uint32_t mean = level_ppm(level.load.mean, level.fair.mean);
  if (mean <= constants.stop_ppm) return std::nullopt;
  const std::vector<HeavyToken> own = heavy_on(plan.heavy, level.node);
  std::uint64_t heavy = 0;
  for (const HeavyToken& each : own) heavy += each.load;
  const std::uint64_t enough = ppm_of(level.fair.mean, constants.stop_ppm);
  if (heavy > enough) return unsplittable(node, level.load.mean, enough, own);
  return below_bound(node, mean, plan.bound_ppm, plan.heavy, board);
}

Verdict as_usual(const BoardNode& node, const Level& level, const NodeTrigger& state,
                 std::uint64_t load, std::uint64_t fair, const Constants& constants) {
  Verdict verdict{.why = Why::kUsual, .node = node.id};
  verdict.text = "node '" + node.name + "' is at " + times(level_ppm(load, fair)) +
                 ", but at this hour " + times(level.usual_ppm) +
                 " is usual: left to the slow trigger";
  verdict.until = slow_at(state, constants);
  return verdict;
}

// Hot in some of the last ticks, and the trigger does not act.
Verdict not_believed(const BoardNode& node, const Level& level, const NodeTrigger& state,
                     const Constants& constants) {
  const auto ticks = static_cast<std::uint32_t>(std::popcount(state.hot_ticks));
  const std::uint32_t mean = level_ppm(level.load.mean, level.fair.mean);
  Verdict verdict{.why = Why::kNotLongEnough, .node = node.id};
  verdict.text = "node '" + node.name + "' is at " + times(mean) + ", hot in " +
                 std::to_string(ticks) + " of the last " + std::to_string(constants.hot_ticks_of) +
                 " ticks; ";
  if (ticks < constants.hot_ticks) {
    verdict.text += "acts at " + std::to_string(constants.hot_ticks);
  } else if (mean < constants.hot_mean_ppm) {
    verdict.text +=
        "peaks that come and go: acts when its mean of 10 s is " + times(constants.hot_mean_ppm);
  } else {
    return as_usual(node, level, state, level.load.mean, level.fair.mean, constants);
  }
  return verdict;
}

std::optional<Verdict> waiting(const Board& board, const Level& level, const NodeTrigger& state,
                               std::uint32_t stop_ppm) {
  const Constants& constants = board.constants();
  const BoardNode& node = board.node(level.node);
  if (state.hot_ticks == 0 && hot_as_usual(level, constants))
    return as_usual(node, level, state, level.load.tick, level.fair.tick, constants);
  if (state.hot_ticks != 0) return not_believed(node, level, state, constants);
  const std::uint32_t slow = level_ppm(level.load.slow, level.fair.slow);
  if (state.warm_since == UnixMillis{} || slow <= stop_ppm) return std::nullopt;
  return Verdict{.why = Why::kNotLongEnough,
                 .node = node.id,
                 .text = "node '" + node.name + "' is a little high at " + times(slow) +
                         "; acts when it lasts",
                 .until = slow_at(state, constants)};
}

}  // namespace

void explain_waiting(const Board& board, const std::vector<Level>& levels, std::uint32_t stop_ppm,
                     Plan& plan) {
  for (const Level& level : levels) {
    const NodeTrigger* const known = find_node(plan.trigger, level.node);
    CHECK(known != nullptr);  // the trigger was asked of these levels
    const NodeTrigger& state = *known;
    const bool stands_out = state.hot_ticks != 0 || state.warm_since != UnixMillis{};
    std::optional<Verdict> verdict;
    if (stands_out && level_ppm(level.load.mean, level.fair.mean) <= stop_ppm)
      verdict = at_its_bound(board, level, plan);
    if (!verdict && plan.trigger.engaged == Engaged::kIdle)
      verdict = waiting(board, level, state, stop_ppm);
    if (verdict) plan.verdicts.push_back(*std::move(verdict));
  }
}

void explain_windows(const Input& input, Plan& plan) {
  const std::vector<DailyWindow>& windows = input.orders.windows;
  if (input.view->document().mode != ring::Mode::kAuto || is_open(windows, input.now)) return;
  const UnixMillis opens = opens_at(windows, input.now);
  const std::int64_t minutes = (opens.value() - input.now.value()) / 60'000;
  std::string times;
  for (const DailyWindow& each : windows) times += " " + to_string(each);
  for (const PlannedMove& move : plan.moves) {
    if (!waits_for_window(move.cause)) continue;
    plan.verdicts.push_back({.why = Why::kWindow,
                             .node = move.source,
                             .text = "waits " + std::to_string(minutes) +
                                     " minutes for the next window for moves (UTC:" + times +
                                     "); it would be: " + move.reason,
                             .until = opens});
  }
}

}  // namespace cleave::balance
