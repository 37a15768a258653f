// How much of all tokens changes owner when a node joins, leaves or gets heavier, beside the least
// that could: what those nodes gain that own more afterwards. The measured ratios are recorded as
// properties of the test; docs/reports/ring.md has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "base/rng.h"
#include "ring/placed/placement_diff.h"
#include "ring/schemes/placement.h"
#include "ring/view/diff.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

using Nodes = std::vector<PlacedNode>;

constexpr std::uint64_t kLeast = 1'000;
constexpr std::uint64_t kNoWeights = 0;  // the change is not tried
constexpr std::uint64_t kRuns = 25;      // of each change for each scheme

// Whether nodes stay where they are in the peer's list when one before them leaves.
enum class Positions : std::uint8_t { kKept, kClosedUp };

// Moved tokens for 1,000 that had to move, at most, over all runs together. kLeast means exactly
// the least in every run.
struct Allowed {
  SchemeSpec spec;
  std::uint64_t join;
  std::uint64_t leave;
  std::uint64_t heavier;
  Positions positions = Positions::kKept;
};

std::ostream& operator<<(std::ostream& out, const Allowed& allowed) {
  return out << allowed.spec.name;  // for the test's messages
}

// Exact: a node's points depend on that node alone. The others, by kind:
//   ketama counts   a node's texts are floor(weight / sum x 40 x nodes): a weight that changes one
//                   share changes everybody's, and for some numbers of nodes equal weights have 39
//   envoy-ring      the scale that makes the lightest host's points whole changes with the number
//                   of hosts, and with it everybody's points
//   maglev          hosts take turns: an entry that one takes earlier is missed by another
//   even slots      node i has the i-th stretch: all stretches shift, as no peer would move them
//                   (redis-cluster, codis; cassandra's even tokens likewise)
//   closed up       jedis without names and haproxy number their nodes: who leaves renumbers those
//                   behind it, unless they keep their positions, as in a pool of cleave. A join, at
//                   the end, is exact.
std::vector<Allowed> allowances() {
  const std::uint64_t least = kLeast;
  return {{{.name = "vnode"}, least, least, least},
          {{.name = "murmur64a-vnode"}, least, least, least},
          {{.name = "java-vnode"}, least, least, least},
          {{.name = "jedis", .options = {{"named", "true"}}}, least, least, least},
          {{.name = "nginx", .options = {{"method", "consistent"}}}, least, least, least},
          {{.name = "uhashring"}, least, least, least},
          {{.name = "libmemcached-ketama"}, least, least, kNoWeights},
          {{.name = "libmemcached-spy"}, least, least, kNoWeights},
          {{.name = "spymemcached"}, least, least, 1'550},
          {{.name = "uhashring", .options = {{"hash", "ketama"}}}, least, least, 1'520},
          {{.name = "npm-hashring"}, 1'030, 1'030, 1'520},
          {{.name = "libmemcached-ketama-weighted"}, 1'050, 1'050, 1'520},
          {{.name = "twemproxy-ketama"}, 1'050, 1'050, 1'520},
          {{.name = "jedis"}, least, least, least},
          {{.name = "jedis"}, least, 3'600, least, Positions::kClosedUp},
          {{.name = "haproxy", .options = {{"method", "consistent"}}}, least, least, least},
          {{.name = "haproxy", .options = {{"method", "consistent"}}},
           least,
           3'300,
           least,
           Positions::kClosedUp},
          {{.name = "envoy-ring"}, 1'600, 1'450, 1'500},
          {{.name = "envoy-maglev", .options = {{"table_size", "5003"}}}, 1'120, 1'120, 1'120},
          {{.name = "redis-cluster"}, 4'000, 2'600, 3'200},
          {{.name = "codis"}, 4'000, 2'600, 3'200},
          {{.name = "cassandra"}, 3'250, 2'800, 3'250}};
}

struct Moved {
  Wide moved = 0;
  Wide least = 0;
};

Moved movement(const SchemeSpec& spec, const Nodes& before, const Nodes& after) {
  const auto from = place(spec, before);
  const auto to = place(spec, after);
  EXPECT_TRUE(from && to);
  const auto result = diff({**from, before}, {**to, after});
  EXPECT_TRUE(result);
  std::vector<Wide> gained(result->names.size());
  std::vector<Wide> lost(result->names.size());
  Moved sum;
  for (const Change& change : result->changes) {
    sum.moved += width(change.range);
    gained[change.to.value() - 1] += width(change.range);
    lost[change.from.value() - 1] += width(change.range);
  }
  for (std::size_t i = 0; i < gained.size(); ++i) {
    if (gained[i] > lost[i]) sum.least += gained[i] - lost[i];
  }
  return sum;
}

Nodes some_nodes(Rng& rng, std::uint64_t seed, Positions positions) {
  // From 24 to 25, equal nodes go from 40 texts to 39 in the ketama of floats.
  Nodes nodes(rng.chance(1, 4) ? 24 : 2 + rng.below(11));
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = "n" + std::to_string(seed) + "-" + std::to_string(i);
    if (positions == Positions::kKept) nodes[i].position = i;
  }
  return nodes;
}

Nodes joined(const Nodes& nodes, Rng& /*rng*/) {
  Nodes more = nodes;
  more.push_back({"joiner"});
  return more;
}

Nodes left(const Nodes& nodes, Rng& rng) {
  Nodes fewer = nodes;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(rng.below(fewer.size())));
  return fewer;
}

Nodes heavier(const Nodes& nodes, Rng& rng) {
  Nodes same = nodes;
  same[rng.below(same.size())].weight = 2;
  return same;
}

using Edit = Nodes (*)(const Nodes& nodes, Rng& rng);

// `permille` as in Allowed.
void expect_moves(const Allowed& scheme, const std::string& what, std::uint64_t permille,
                  Edit edit) {
  if (permille == kNoWeights) return;
  Moved all;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    SCOPED_TRACE(what + ", seed " + std::to_string(seed));
    Rng rng(seed);
    const Nodes before = some_nodes(rng, seed, scheme.positions);
    const Moved one = movement(scheme.spec, before, edit(before, rng));
    if (permille == kLeast) {
      EXPECT_EQ(one.moved, one.least);
    }
    all.moved += one.moved;
    all.least += one.least;
  }
  const auto per_thousand = static_cast<std::uint64_t>(all.moved * 1'000 / all.least);
  EXPECT_LE(per_thousand, permille) << what;
  const auto share = static_cast<std::uint64_t>(all.moved / kRuns * 1'000 >> 64U);
  ::testing::Test::RecordProperty(
      what, std::to_string(share) + " of 1000, " + std::to_string(per_thousand) + " of the least");
}

class Movement : public ::testing::TestWithParam<Allowed> {};

TEST_P(Movement, IsTheLeastOrWhatTheSchemeIsKnownFor) {
  const Allowed& allowed = GetParam();
  expect_moves(allowed, "join", allowed.join, joined);
  expect_moves(allowed, "leave", allowed.leave, left);
  expect_moves(allowed, "heavier", allowed.heavier, heavier);
}

std::string test_name(const ::testing::TestParamInfo<Allowed>& info) {
  std::string name = info.param.spec.name;
  for (const auto& [option, value] : info.param.spec.options) name += "_" + value;
  if (info.param.positions == Positions::kClosedUp) name += "_closed_up";
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryScheme, Movement, ::testing::ValuesIn(allowances()), test_name);

}  // namespace
}  // namespace cleave::ring
