#include "ring/placed/replicas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/rng.h"
#include "ring/document/arcs_testing.h"
#include "ring/placed/placement_diff.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

using testing::equal_arcs;
using Strategy = Replication::Strategy;
using Holders = std::vector<NodeId>;

Holders ids(const std::vector<std::uint32_t>& numbers) {
  Holders nodes;
  for (const std::uint32_t number : numbers) nodes.push_back(NodeId{number});
  return nodes;
}

ReplicaTable table_of(std::span<const Arc> arcs, std::span<const Site> sites,
                      const Replication& replication) {
  auto table = ReplicaTable::build(arcs, sites, replication);
  EXPECT_TRUE(table) << table.error().message;
  return std::move(*table);
}

Holders of(const ReplicaTable& table, std::uint32_t arc) {
  const auto nodes = table.of_arc(arc);
  return {nodes.begin(), nodes.end()};
}

const std::vector<Site> kTwoRacks{
    {NodeId{1}, "r1"}, {NodeId{2}, "r1"}, {NodeId{3}, "r2"}, {NodeId{4}, "r2"}};

TEST(Replicas, SimpleTakesTheNextDistinctNodes) {
  const auto table = table_of(equal_arcs({1, 2, 1, 2, 3, 4}), kTwoRacks, Replication::simple(3));
  EXPECT_EQ(of(table, 0), ids({1, 2, 3}));
  EXPECT_EQ(of(table, 2), ids({1, 2, 3}));
  EXPECT_EQ(of(table, 3), ids({2, 3, 4}));
  EXPECT_EQ(of(table, 5), ids({4, 1, 2}));  // past the last token comes the first
  EXPECT_TRUE(table.shortages().empty());
}

TEST(Replicas, TopologyPassesOverRacksThatHaveOne) {
  const auto table =
      table_of(equal_arcs({1, 2, 3, 4}), kTwoRacks, Replication::topology({{.replicas = 2}}));
  EXPECT_EQ(of(table, 0), ids({1, 3}));
  EXPECT_EQ(of(table, 1), ids({2, 3}));
  EXPECT_EQ(of(table, 3), ids({4, 1}));
  EXPECT_TRUE(table.shortages().empty());
}

// One more than racks: the first node of a seen rack is taken at once, as Cassandra does.
TEST(Replicas, WhereRacksAreTooFewTheEarliestNodesRepeatThem) {
  const auto table =
      table_of(equal_arcs({1, 2, 3, 4}), kTwoRacks, Replication::topology({{.replicas = 3}}));
  EXPECT_EQ(of(table, 0), ids({1, 2, 3}));
  EXPECT_EQ(of(table, 1), ids({2, 3, 4}));
  ASSERT_EQ(table.shortages().size(), 1U);
  EXPECT_EQ(table.shortages()[0], (Shortage{.wanted = 3, .missing = 0, .sharing = 1}));
}

TEST(Replicas, SayWhatIsMissing) {
  const std::vector<Site> sites{
      {NodeId{1}, "r1", "east"}, {NodeId{2}, "r1", "east"}, {NodeId{3}, "r1", "west"}};
  const auto table = table_of(equal_arcs({1, 2, 3}), sites,
                              Replication::topology({{"east", 3}, {"west", 1}, {"north", 2}}));
  EXPECT_EQ(table.replicas(), 3U);
  EXPECT_EQ(of(table, 2), ids({3, 1, 2}));
  ASSERT_EQ(table.shortages().size(), 2U);
  EXPECT_EQ(to_string(table.shortages()[0]),
            "datacenter 'east': 1 of 3 replicas missing, 1 in a rack that already holds one");
  EXPECT_EQ(table.shortages()[1], (Shortage{"north", 2, 2, 0}));
}

// The rack exists on paper only: no walk meets it, and nothing waits for it.
TEST(Replicas, ANodeWithoutArcsDoesNotCount) {
  std::vector<Site> sites = kTwoRacks;
  sites.push_back({NodeId{5}, "r3"});
  const auto table =
      table_of(equal_arcs({1, 2, 3, 4}), sites, Replication::topology({{.replicas = 3}}));
  EXPECT_EQ(of(table, 0), ids({1, 2, 3}));
  EXPECT_EQ(table.shortages()[0].sharing, 1U);
}

TEST(Replicas, ADatacenterThatHoldsNothingIsPassedOver) {
  const std::vector<Site> sites{{NodeId{1}, "", "east"}, {NodeId{2}, "", "west"}};
  const auto table =
      table_of(equal_arcs({1, 2}), sites, Replication::topology({{"east", 0}, {"west", 1}}));
  EXPECT_EQ(of(table, 0), ids({2}));
  EXPECT_EQ(of(table, 1), ids({2}));
}

TEST(Replicas, RefuseWhatMakesNoSense) {
  const auto code = [](std::span<const Arc> arcs, std::span<const Site> sites,
                       const Replication& replication) {
    const auto table = ReplicaTable::build(arcs, sites, replication);
    EXPECT_FALSE(table);
    return table ? std::optional<Code>() : table.error().code;
  };
  const std::vector<Arc> arcs = equal_arcs({1, 2, 3, 4});
  const auto one = Replication::simple(1);
  EXPECT_EQ(code({}, kTwoRacks, one), Code::kInvalid);
  EXPECT_EQ(code(std::span(arcs).first(3), kTwoRacks, one), Code::kInvalid);
  EXPECT_EQ(code(arcs, std::span(kTwoRacks).first(3), one), Code::kInvalid);
  std::vector<Arc> gap = arcs;
  gap[1].range.first = Token{gap[1].range.first.value() + 1};
  EXPECT_EQ(code(gap, kTwoRacks, one), Code::kInvalid);
  std::vector<Site> twice = kTwoRacks;
  twice.push_back(twice[0]);
  EXPECT_EQ(code(arcs, twice, one), Code::kInvalid);
  EXPECT_EQ(code(arcs, kTwoRacks, Replication::simple(0)), Code::kInvalid);
  EXPECT_EQ(code(arcs, kTwoRacks, Replication::simple(kReplicasMax + 1)), Code::kExhausted);
  EXPECT_EQ(code(arcs, kTwoRacks, Replication::topology({{"a", 1}, {"a", 2}})), Code::kInvalid);
  EXPECT_EQ(code(arcs, kTwoRacks, {.strategy = Strategy::kSimple, .wanted = {{"a", 1}, {"b", 1}}}),
            Code::kInvalid);
}

TEST(Replicas, RefuseATableWithoutMeasure) {
  std::vector<Site> sites;
  std::vector<std::uint32_t> owners;
  for (std::uint32_t i = 0; i <= kReplicaEntriesMax / kReplicasMax; ++i) {
    owners.push_back(1 + i % kReplicasMax);
    if (i < kReplicasMax) sites.push_back({NodeId{i + 1}});
  }
  const auto table =
      ReplicaTable::build(equal_arcs(owners), sites, Replication::simple(kReplicasMax));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Code::kExhausted);
}

// ---- laws, on random rings --------------------------------------------------------------------

struct Cluster {
  std::vector<Arc> arcs;
  std::vector<Site> sites;
  Replication replication;
};

std::vector<Arc> random_arcs(Rng& rng, std::size_t nodes) {
  std::vector<std::uint32_t> owners;
  for (std::size_t i = 0; i < 1 + rng.below(4 * nodes); ++i) {
    owners.push_back(1 + static_cast<std::uint32_t>(rng.below(nodes)));
  }
  return equal_arcs(owners);
}

Cluster random_cluster(Rng& rng) {
  Cluster cluster;
  const std::size_t nodes = 1 + rng.below(12);
  const std::size_t racks = 1 + rng.below(5);
  const std::size_t datacenters = 1 + rng.below(3);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    Site site{.node = NodeId{i + 1}};
    if (!rng.chance(1, 8)) site.rack = "r" + std::to_string(rng.below(racks));
    site.datacenter = "d" + std::to_string(rng.below(datacenters));
    cluster.sites.push_back(site);
  }
  cluster.arcs = random_arcs(rng, nodes);
  if (rng.chance(1, 4)) {
    cluster.replication = Replication::simple(1 + static_cast<std::uint32_t>(rng.below(6)));
    return cluster;
  }
  std::vector<DatacenterReplicas> wanted;
  for (std::size_t i = 0; i < datacenters; ++i) {
    wanted.push_back({"d" + std::to_string(i), static_cast<std::uint32_t>(rng.below(6))});
  }
  ++wanted[0].replicas;
  cluster.replication = Replication::topology(wanted);
  return cluster;
}

// One rule of one datacenter in a walk that is really made, arc by arc.
class NaiveRule {
 public:
  NaiveRule(const Cluster& cluster, std::string datacenter, std::uint32_t wanted)
      : simple_(cluster.replication.strategy == Strategy::kSimple),
        datacenter_(std::move(datacenter)),
        left_(wanted) {
    std::set<std::string> racks;
    for (const Arc& arc : cluster.arcs) {
      const Site& site = cluster.sites[arc.node.value() - 1];
      if (applies_to(site)) racks.insert(rack_of(site));
    }
    racks_missing_ = static_cast<std::int64_t>(wanted) - static_cast<std::int64_t>(racks.size());
  }

  bool takes(const Site& site) {
    if (!applies_to(site) || left_ == 0) return false;
    if (nodes_.contains(site.node)) return false;
    if (!racks_.insert(rack_of(site)).second) {
      if (racks_missing_ <= 0) return false;
      --racks_missing_;
    }
    --left_;
    nodes_.insert(site.node);
    return true;
  }

  std::string rack_of(const Site& site) const {
    const bool own = simple_ || site.rack.empty();
    return own ? "node " + std::to_string(site.node.value()) : "rack " + site.rack;
  }

 private:
  bool applies_to(const Site& site) const { return simple_ || site.datacenter == datacenter_; }

  bool simple_;
  std::string datacenter_;
  std::uint32_t left_;
  std::int64_t racks_missing_ = 0;
  std::set<std::string> racks_;
  std::set<NodeId> nodes_;
};

Holders naive(const Cluster& cluster, std::size_t from) {
  std::vector<NaiveRule> rules;
  for (const DatacenterReplicas& each : cluster.replication.wanted) {
    rules.emplace_back(cluster, each.datacenter, each.replicas);
  }
  Holders nodes;
  for (std::size_t i = 0; i < cluster.arcs.size(); ++i) {
    const NodeId node = cluster.arcs[(from + i) % cluster.arcs.size()].node;
    for (NaiveRule& rule : rules) {
      if (rule.takes(cluster.sites[node.value() - 1])) nodes.push_back(node);
    }
  }
  return nodes;
}

TEST(Replicas, AreThoseOfAWalkThatIsReallyMade) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Cluster cluster = random_cluster(rng);
    const auto table = table_of(cluster.arcs, cluster.sites, cluster.replication);
    for (std::uint32_t arc = 0; arc < cluster.arcs.size(); ++arc) {
      ASSERT_EQ(of(table, arc), naive(cluster, arc)) << "arc " << arc;
      const auto by_token = table.of(cluster.arcs[arc].range.last);
      ASSERT_TRUE(std::ranges::equal(by_token, table.of_arc(arc)));
    }
  }
}

struct Met {
  std::size_t nodes = 0;
  std::size_t racks = 0;
};

// How many nodes, and racks, of a datacenter are in the list.
Met met(const Cluster& cluster, const std::string& datacenter, std::span<const NodeId> list) {
  std::set<NodeId> nodes;
  std::set<std::string> racks;
  for (const NodeId node : list) {
    const Site& site = cluster.sites[node.value() - 1];
    if (site.datacenter != datacenter) continue;
    nodes.insert(node);
    racks.insert(site.rack.empty() ? "node " + std::to_string(node.value()) : "rack " + site.rack);
  }
  return {nodes.size(), racks.size()};
}

Shortage shortage_of(const ReplicaTable& table, const DatacenterReplicas& wanted) {
  for (const Shortage& each : table.shortages()) {
    if (each.datacenter == wanted.datacenter) return each;
  }
  return {.datacenter = wanted.datacenter, .wanted = wanted.replicas};
}

TEST(Replicas, AreNeverTwoOnANodeNorOnARackWhereRacksSufficeAndSayWhatIsShort) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Cluster cluster = random_cluster(rng);
    if (cluster.replication.strategy == Strategy::kSimple) continue;
    const auto table = table_of(cluster.arcs, cluster.sites, cluster.replication);
    Holders owners;
    for (const Arc& arc : cluster.arcs) owners.push_back(arc.node);
    for (const DatacenterReplicas& wanted : cluster.replication.wanted) {
      const Met there = met(cluster, wanted.datacenter, owners);
      const Shortage shortage = shortage_of(table, wanted);
      const std::size_t possible = std::min<std::size_t>(wanted.replicas, there.nodes);
      ASSERT_EQ(shortage.missing, wanted.replicas - possible);
      ASSERT_EQ(shortage.sharing, possible - std::min(possible, there.racks));
      for (std::uint32_t arc = 0; arc < cluster.arcs.size(); ++arc) {
        const Met held = met(cluster, wanted.datacenter, table.of_arc(arc));
        ASSERT_EQ(held.nodes, possible);
        ASSERT_EQ(held.racks, std::min(possible, there.racks));
      }
    }
  }
}

TEST(Replicas, BeginWithTheOwner) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Cluster cluster = random_cluster(rng);
    for (DatacenterReplicas& each : cluster.replication.wanted) ++each.replicas;
    const auto table = table_of(cluster.arcs, cluster.sites, cluster.replication);
    for (std::uint32_t arc = 0; arc < cluster.arcs.size(); ++arc) {
      ASSERT_EQ(table.of_arc(arc).front(), cluster.arcs[arc].node);
    }
  }
}

// A joiner's points cut arcs in two: everybody else keeps what the joiner does not take.
std::vector<Arc> with_joiner(Rng& rng, const std::vector<Arc>& before, NodeId joiner) {
  std::vector<Arc> after;
  for (const Arc& arc : before) {
    if (rng.chance(1, 3)) {
      const Token middle{arc.range.first.value() +
                         static_cast<std::uint64_t>((width(arc.range) - 1) / 2)};
      after.push_back({{arc.range.first, middle}, joiner});
      after.push_back({{Token{middle.value() + 1}, arc.range.last}, arc.node});
    } else {
      after.push_back(arc);
    }
  }
  return after;
}

TEST(Replicas, AJoinerTakesThePlaceOfOneOther) {
  std::size_t joined = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Cluster cluster = random_cluster(rng);
    const auto before = table_of(cluster.arcs, cluster.sites, cluster.replication);
    const NodeId joiner{static_cast<std::uint32_t>(cluster.sites.size()) + 1};
    cluster.sites.push_back({joiner, "r" + std::to_string(rng.below(6)), "d0"});
    const std::vector<Arc> arcs = with_joiner(rng, cluster.arcs, joiner);
    const auto after = table_of(arcs, cluster.sites, cluster.replication);
    for (const Arc& arc : arcs) {
      const auto old_list = before.of(arc.range.first);
      const auto new_list = after.of(arc.range.first);
      const std::set<NodeId> old_nodes(old_list.begin(), old_list.end());
      std::set<NodeId> new_nodes(new_list.begin(), new_list.end());
      if (new_nodes.erase(joiner) == 0) {
        ASSERT_EQ(new_nodes, old_nodes);
        continue;
      }
      ++joined;
      ASSERT_TRUE(std::ranges::includes(old_nodes, new_nodes));
      ASSERT_LE(old_nodes.size() - new_nodes.size(), 1U);
    }
  }
  EXPECT_GT(joined, 10'000U);
}

// The walk is over arcs alike: of points, of table entries, of the pieces of a direct choice.
TEST(Replicas, WorkOnEveryScheme) {
  std::vector<PlacedNode> nodes;
  std::vector<Site> sites;
  for (std::uint32_t i = 0; i < 9; ++i) {
    nodes.push_back({.name = "n" + std::to_string(i)});
    sites.push_back({NodeId{i + 1}, "r" + std::to_string(i % 3)});
  }
  for (const SchemeText& scheme : schemes()) {
    SCOPED_TRACE(scheme.name);
    const auto placement = place({.name = std::string(scheme.name)}, nodes);
    ASSERT_TRUE(placement) << placement.error().message;
    const std::vector<Arc> arcs = arcs_of(**placement);
    const auto table = table_of(arcs, sites, Replication::topology({{.replicas = 3}}));
    EXPECT_TRUE(table.shortages().empty());
    for (const Arc& arc : arcs) {
      const auto list = table.of(arc.range.first);
      ASSERT_EQ(list.front(), arc.node);
      std::set<std::string> racks;
      for (const NodeId node : list) racks.insert(sites[node.value() - 1].rack);
      ASSERT_EQ(racks.size(), 3U);
    }
  }
}

}  // namespace
}  // namespace cleave::ring
