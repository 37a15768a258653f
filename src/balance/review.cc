#include "balance/review.h"

#include <algorithm>
#include <bit>

#include "balance/bound.h"
#include "balance/text.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
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
  const Wide load = board.total_load();
  const Constants& constants = board.constants();
  if (load == 0 || load * kMillion < capacity * constants.advise_ppm) return;
  // As many more nodes of the mean capacity as bring the use down to advise_to_ppm.
  const Wide each_to = std::max(capacity * constants.advise_to_ppm / (kMillion * nodes), Wide{1});
  const auto wanted = static_cast<std::uint64_t>((load + each_to - 1) / each_to);
  if (wanted <= nodes) return;
  plan.advice_nodes = wanted - nodes;
  plan.advice = "all nodes together are at " +
                percent(board.total_load(), static_cast<std::uint64_t>(capacity)) +
                " of their capacity, which no move can better: add " +
                std::to_string(plan.advice_nodes) + " node(s)";
}

void explain_waiting(const Board& board, const std::vector<Level>& levels, std::uint32_t stop_ppm,
                     Plan& plan) {
  const Constants& constants = board.constants();
  for (const Level& level : levels) {
    const NodeTrigger* state = find_node(plan.trigger, level.node);
    const std::string& name = board.node(level.node).name;
    if (state->hot_ticks == 0 && hot_as_usual(level, constants)) {
      Verdict verdict{.why = Why::kUsual, .node = level.node};
      verdict.text = "node '" + name + "' is at " +
                     times(level_ppm(level.load.tick, level.fair.tick)) + ", but at this hour " +
                     times(level.usual_ppm) + " is usual: left to the slow trigger";
      if (state->warm_since != UnixMillis{}) {
        verdict.until = UnixMillis{state->warm_since.value() + constants.slow_after.count()};
      }
      plan.verdicts.push_back(std::move(verdict));
    } else if (state->hot_ticks != 0) {
      const std::string who = "node '" + name + "' is at " +
                              times(level_ppm(level.load.mean, level.fair.mean)) + ", hot in ";
      plan.verdicts.push_back({.why = Why::kNotLongEnough,
                               .node = level.node,
                               .text = who + std::to_string(std::popcount(state->hot_ticks)) +
                                       " of the last " + std::to_string(constants.hot_ticks_of) +
                                       " ticks; acts at " + std::to_string(constants.hot_ticks)});
    } else if (state->warm_since != UnixMillis{} &&
               level_ppm(level.load.slow, level.fair.slow) > stop_ppm) {
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

}  // namespace cleave::balance
