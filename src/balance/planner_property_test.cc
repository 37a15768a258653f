// Laws of the planner, each over random worlds (test_input.h).
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <span>

#include "balance/input/input_testing.h"
#include "balance/planner.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "base/ppm.h"
#include "ring/edits/whole_move.h"
#include "ring/view/diff.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kCases = 1'000;

bool by_load(Cause cause) {
  return cause == Cause::kHot || cause == Cause::kUrgent || cause == Cause::kSlow;
}

std::string about(std::uint64_t seed, const PlannedMove& move) {
  return "seed " + std::to_string(seed) + ": " + move.reason;
}

std::size_t racks_of(const ring::Node& node) {
  std::set<std::string> racks;
  for (const ring::Member& each : node.members) racks.insert(each.rack);
  return racks.size();
}

// Each move alone keeps the replicas and failure domains of what it moves, so any prefix does.
void expect_no_replica_lost(const ring::Document& document, const PlannedMove& move) {
  const ring::Node& source = *ring::find_node(document, move.source);
  const ring::Node& destination = *ring::find_node(document, move.destination);
  EXPECT_GE(destination.members.size(), source.members.size()) << move.reason;
  EXPECT_GE(racks_of(destination), racks_of(source)) << move.reason;
}

Input random_input_with_events(std::uint64_t seed) {
  Input input = random_input(seed);
  Rng rng(seed);
  if (rng.chance(1, 2)) input.expected = random_events(rng, input.now);
  return input;
}

TEST(PlannerLaw, EveryMoveCanBeginAndLosesNoReplica) {
  std::size_t moves = 0;
  std::size_t presplits = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Input input = random_input_with_events(seed);
    ring::Document document = input.view->document();
    for (const PlannedMove& move : plan(input).moves) {
      ASSERT_EQ(ring::normalised(move.ranges), move.ranges) << about(seed, move);
      ASSERT_FALSE(move.reason.empty());
      // Checks: owned by the source, not in flight, not touched by another planned move.
      const auto begun = ring::begin_move(
          document, {move.ranges, move.source, move.destination, move.reason, input.now});
      ASSERT_TRUE(begun) << about(seed, move) << ": " << begun.error().message;
      document = *begun;
      ++moves;
      expect_no_replica_lost(document, move);
      presplits += move.cause == Cause::kPresplit ? 1U : 0U;
      ASSERT_EQ(move.pin_until > input.now, move.cause == Cause::kPresplit) << about(seed, move);
      ASSERT_LE(move.alternatives.size(), kAlternativesMax);
    }
  }
  EXPECT_GT(presplits, kCases / 50);
  EXPECT_GT(moves, kCases / 4);  // the worlds are such that there is something to do
}

// One token that goes to a larger node (ADR 12): it alone is above the goal where it is, weighs
// less there, and the hotter of the two nodes is less hot than before.
bool to_larger(const PlannedMove& move, const BoardNode& source, const BoardNode& destination,
               const Constants& constants) {
  const bool single = move.ranges.size() == 1 && move.ranges[0].first == move.ranges[0].last;
  const std::uint64_t before = level_ppm(move.source_before, source.fair);
  return single && level_ppm(move.load, source.fair) > constants.stop_least_ppm &&
         Wide{destination.fair} * 1'000'000 >= Wide{source.fair} * constants.larger_ppm &&
         level_ppm(move.destination_after, destination.fair) <=
             before - ppm_of(before, constants.larger_gain_ppm);
}

// One heavy token that shared its node with others (parting.h): the higher of the two nodes
// ends lower than before by a quarter of it.
bool parted(const PlannedMove& move, const BoardNode& source, const BoardNode& destination,
            const Constants& constants) {
  const bool single = move.ranges.size() == 1 && move.ranges[0].first == move.ranges[0].last;
  const std::uint32_t weight =
      std::min(level_ppm(move.load, source.fair), level_ppm(move.load, destination.fair));
  const std::uint32_t after = std::max(level_ppm(move.source_after, source.fair),
                                       level_ppm(move.destination_after, destination.fair));
  return single && level_ppm(move.load, source.fair) >= constants.heavy_ppm &&
         after + weight / 4 <= level_ppm(move.source_before, source.fair);
}

TEST(PlannerLaw, NoMoveByLoadPutsItsTwoNodesInTheOtherOrder) {
  std::size_t lifted = 0;
  std::size_t parts = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Input input = random_input(seed);
    Board board(input);
    for (const PlannedMove& move : plan(input).moves) {
      const BoardNode source = board.node(move.source);
      const BoardNode destination = board.node(move.destination);
      if (by_load(move.cause)) {
        ASSERT_EQ(move.source_before - move.source_after, move.load) << about(seed, move);
        ASSERT_EQ(move.destination_after - move.destination_before, move.load);
        const bool larger = to_larger(move, source, destination, input.constants);
        const bool parts_two = parted(move, source, destination, input.constants);
        parts += parts_two ? 1U : 0U;
        ASSERT_TRUE(larger || parts_two ||
                    level_ppm(move.source_after, source.fair) + 1 >=
                        level_ppm(move.destination_after, destination.fair))
            << about(seed, move);
        lifted += larger ? 1U : 0U;
      }
      board.apply(move);
    }
  }
  EXPECT_GT(lifted, 0U);
  EXPECT_GT(parts, 0U);
}

TEST(PlannerLaw, NoMoveTouchesANodeThatMustNotTakePart) {
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Input input = random_input(seed);
    std::map<NodeId, std::uint32_t> out;
    std::map<NodeId, std::uint32_t> in;
    for (const ring::Move& move : input.view->document().moves) {
      ++out[move.source];
      ++in[move.destination];
    }
    for (const PlannedMove& move : plan(input).moves) {
      for (const NodeFacts& facts : input.nodes) {
        if (facts.id != move.source && facts.id != move.destination) continue;
        ASSERT_TRUE(facts.healthy && !facts.unattributed_writes && facts.vetoes.empty())
            << about(seed, move);
        ASSERT_FALSE(facts.joining && facts.id == move.destination) << about(seed, move);
      }
      ASSERT_LE(++out[move.source], input.constants.moves_out_max) << about(seed, move);
      ASSERT_LE(++in[move.destination], input.constants.moves_in_max) << about(seed, move);
      ASSERT_EQ(ring::find_node(input.view->document(), move.destination)->state,
                ring::NodeState::kActive);
    }
  }
}

TEST(PlannerLaw, MovesByLoadStayWithinTheBudgets) {
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Input input = random_input(seed);
    const Calm calm(input);
    std::uint64_t all = 0;
    for (const NodeFacts& each : input.nodes) all += each.keys;
    std::uint64_t keys = 0;
    for (const PlannedMove& move : plan(input).moves) {
      if (!by_load(move.cause)) continue;
      keys += move.keys;
      const ring::RangeSet stays =
          ring::normalised({calm.dwelling().begin(), calm.dwelling().end()});
      ASSERT_FALSE(ring::overlap(move.ranges, stays)) << about(seed, move);
      ASSERT_FALSE(ring::overlap(move.ranges, calm.left(move.destination))) << about(seed, move);
      const auto target = std::ranges::find(input.nodes, move.destination, &NodeFacts::id);
      if (target->memory_bytes_max > 0) {
        ASSERT_LE(target->memory_bytes + move.bytes, target->memory_bytes_max) << about(seed, move);
      }
    }
    ASSERT_LE(keys, std::max<std::uint64_t>(all / 100, input.constants.plan_keys_min))
        << "seed " << seed;
  }
}

TEST(PlannerLaw, TheOrderOfTheListsDoesNotMatterAndEqualInputGivesAnEqualPlan) {
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Input input = random_input_with_events(seed);
    Input mixed = input;
    std::ranges::reverse(mixed.nodes);
    std::ranges::reverse(mixed.expected);
    std::ranges::reverse(mixed.usual);
    std::ranges::reverse(mixed.history);
    Rng rng(seed);
    for (std::size_t left = mixed.history.size(); left > 1; --left) {
      std::swap(mixed.history[left - 1], mixed.history[rng.below(left)]);
    }
    for (NodeFacts& each : mixed.nodes) std::ranges::reverse(each.vetoes);
    const Plan expected = plan(input);
    ASSERT_EQ(plan(mixed), expected) << "seed " << seed;
    ASSERT_EQ(plan(input), expected) << "seed " << seed;
  }
}

TEST(PlannerLaw, MergesNeverChangeAnOwner) {
  std::size_t merges = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Input input = random_input(seed);
    input.picture.observed = seconds{3'600};
    for (heat::RangeLoad& each : input.picture.ranges) each.load.peak /= 64;
    for (const ring::TokenRange& range : plan(input).merges) {
      const auto merged = ring::merge_cuts(input.view->document(), range, input.now);
      ASSERT_TRUE(merged) << "seed " << seed << ": " << merged.error().message;
      ASSERT_LT(merged->cuts.size(), input.view->document().cuts.size());
      ASSERT_TRUE(ring::diff(*input.view, *test_view(*merged)).empty()) << "seed " << seed;
      ++merges;
    }
  }
  EXPECT_GT(merges, kCases / 20);
}

// Load of any range, as the picture of another ring has it.
std::uint64_t load_in(const heat::Picture& picture, const ring::TokenRange& range) {
  const auto tokens_in = [&](const ring::TokenRange& part) {
    const auto& tokens = picture.tokens;
    const auto begin = std::ranges::lower_bound(tokens, part.first, {}, &heat::TokenLoad::token);
    return std::span(begin, std::ranges::upper_bound(begin, tokens.end(), part.last, {},
                                                     &heat::TokenLoad::token));
  };
  std::uint64_t load = 0;
  for (const heat::RangeLoad& each : picture.ranges) {
    if (!each.range.overlaps(range)) continue;
    const ring::TokenRange inside = ring::common(each.range, range);
    if (inside == each.range) {
      load += each.load.mean;
    } else if (tokens_in(each.range).empty()) {
      load += scaled(each.load.mean, ring::width(inside), ring::width(each.range));
    } else {
      for (const heat::TokenLoad& token : tokens_in(inside)) load += token.load;
    }
  }
  return load;
}

// The same load, told of another ring of the same nodes.
heat::Picture retold(const heat::Picture& before, const ring::RingView& view) {
  heat::Picture picture{.epoch = view.epoch(), .observed = before.observed};
  picture.tokens = before.tokens;
  picture.sources = before.sources;
  std::map<NodeId, heat::NodeLoad> nodes;
  for (const ring::Node& node : view.document().nodes) nodes[node.id].node = node.id;
  for (const ring::Entry& entry : view.entries()) {
    const std::uint64_t load = load_in(before, entry.range);
    heat::RangeLoad range{.range = entry.range, .node = entry.node};
    range.load = {.tick = load, .mean = load, .slow = load, .peak = load};
    nodes[entry.node].load += range.load;
    picture.ranges.push_back(range);
  }
  for (const auto& [id, node] : nodes) picture.nodes.push_back(node);
  return picture;
}

TEST(PlannerLaw, WhatWasMergedIsNotCutTheSameWayAgainAtTheSameLoad) {
  std::size_t merged_cuts = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Input input = random_input(seed);
    input.orders = {};
    input.picture.observed = seconds{3'600};
    for (heat::RangeLoad& each : input.picture.ranges) each.load.peak = each.load.mean;
    ring::Document document = input.view->document();
    for (const ring::TokenRange& range : plan(input).merges) {
      document = *ring::merge_cuts(document, range, input.now);
    }
    const ring::RingSnapshot before = input.view;
    const heat::Picture picture = input.picture;
    input.view = test_view(document);
    input.picture = retold(picture, *input.view);
    std::set<ring::TokenRange> gone;
    for (const ring::Cut& each : before->document().cuts) gone.insert(each.range);
    for (const ring::Cut& each : document.cuts) gone.erase(each.range);
    merged_cuts += gone.size();
    for (const PlannedMove& move : plan(input).moves) {
      if (!by_load(move.cause)) continue;
      for (const ring::TokenRange& each : move.ranges) {
        ASSERT_FALSE(gone.contains(each)) << about(seed, move);
      }
    }
  }
  EXPECT_GT(merged_cuts, kCases / 20);
}

// Any one number of the input at an extreme, or a list that lacks or repeats something.
void corrupt(Input& input, Rng& rng) {
  constexpr std::array<std::uint64_t, 4> kExtremes{0, 1, ring::kNumberMax, ~std::uint64_t{0}};
  const std::uint64_t extreme = kExtremes[rng.below(4)];
  const auto time = UnixMillis{static_cast<std::int64_t>(extreme)};
  const auto any = [&](auto& list) -> auto& { return list[rng.below(list.size())]; };
  switch (rng.below(14)) {
    case 0: any(input.picture.ranges).load.mean = extreme; break;
    case 1: any(input.picture.ranges).load.peak = extreme; break;
    case 2: any(input.picture.nodes).load.tick = extreme; break;
    case 3: any(input.picture.nodes).load.slow = extreme; break;
    case 4:
      if (!input.picture.tokens.empty()) any(input.picture.tokens).load = extreme;
      break;
    case 5: any(input.nodes).keys = extreme; break;
    case 6: any(input.nodes).bytes_per_key = extreme; break;
    case 7: any(input.nodes).capacity = extreme; break;
    case 8: any(input.nodes).memory_bytes = extreme; break;
    case 9: any(input.nodes).memory_bytes_max = extreme; break;
    case 10: input.now = time; break;
    case 11: input.nodes.erase(input.nodes.begin()); break;
    case 12: input.nodes.push_back(any(input.nodes)); break;
    default:
      for (PastMove& each : input.history) {
        each.ended = time;
        each.keys = extreme;
        each.source = NodeId{static_cast<std::uint32_t>(extreme)};
      }
  }
}

TEST(PlannerLaw, BadInputNeverCrashesAndWhatIsRefusedMovesNothing) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 2 * kCases; ++seed) {
    Input input = random_input_with_events(seed);
    Rng rng(seed);
    for (std::uint64_t times = 1 + rng.below(3); times > 0; --times) corrupt(input, rng);
    const Plan result = plan(input);
    const auto bad = [](const Verdict& each) { return each.why == Why::kBadInput; };
    if (std::ranges::any_of(result.verdicts, bad)) {
      ASSERT_TRUE(result.moves.empty() && result.merges.empty()) << "seed " << seed;
      ++refused;
    }
    ring::Document document = input.view->document();
    for (const PlannedMove& move : result.moves) {
      const auto begun = ring::begin_move(
          document, {move.ranges, move.source, move.destination, move.reason, UnixMillis{1}});
      ASSERT_TRUE(begun) << about(seed, move) << ": " << begun.error().message;
      document = *begun;
    }
  }
  EXPECT_GT(refused, kCases / 10);
}

TEST(PlannerLaw, AFrozenPoolAndOneWithoutHeatMoveNothing) {
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Input input = random_input(seed);
    ring::Document document = input.view->document();
    document.frozen = true;
    Input frozen = input;
    frozen.view = test_view(document);
    const Plan still = plan(frozen);
    ASSERT_TRUE(still.moves.empty() && still.merges.empty()) << "seed " << seed;
    ASSERT_FALSE(still.verdicts.empty());
    input.picture.sources.clear();
    for (const PlannedMove& move : plan(input).moves) {
      ASSERT_FALSE(by_load(move.cause)) << about(seed, move);
    }
  }
}

// The load does not change; planned moves are done at once and time passes: it ends, and no piece
// ever goes back.
TEST(PlannerLaw, WithSteadyLoadItComesToRest) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Input input = random_input(seed);
    input.orders = {};
    ring::Document document = input.view->document();
    document.moves.clear();
    input.view = test_view(document);
    Rng rng(seed);
    input.picture = random_picture(rng, *input.view);
    int quiet = 0;
    for (int tick = 0; tick < 200 && quiet < 4; ++tick) {
      const Plan next = plan(input);
      quiet = next.moves.empty() ? quiet + 1 : 0;
      input.trigger = next.trigger;
      input.now = UnixMillis{input.now.value() + 61'000};  // so that nothing waits for time
      const heat::Picture before = input.picture;
      if (next.moves.empty()) continue;
      for (const PlannedMove& move : next.moves) {
        const auto begun = ring::begin_move(
            document, {move.ranges, move.source, move.destination, move.reason, input.now});
        ASSERT_TRUE(begun) << about(seed, move);
        const MoveId id{begun->epoch.value()};
        document = *ring::complete_move(*begun, id, input.now);
        input.history.push_back({.ranges = move.ranges,
                                 .source = move.source,
                                 .destination = move.destination,
                                 .ended = input.now,
                                 .ordered = ordered(move.cause),
                                 .keys = move.keys,
                                 .predicted_gain = move.load});
      }
      input.view = test_view(document);
      input.picture = retold(before, *input.view);
    }
    ASSERT_GE(quiet, 4) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::balance
