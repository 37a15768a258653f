// Replicas as the real Cassandra 4.1.5 chose them, to their order, and as its Python driver did
// (ring/testdata/vectors/cassandra_network_topology.json).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "ring/placed/replicas.h"
#include "ring/schemes/vectors_testing.h"

namespace cleave::ring {
namespace {

using testing::VectorJson;

constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

struct VectorCluster {
  std::map<Token, NodeId> points;
  std::vector<Site> sites;
  Replication replication;
};

VectorCluster cluster_of(const VectorJson& json) {
  VectorCluster cluster;
  for (const VectorJson& node : json["nodes"]) {
    const NodeId id{static_cast<std::uint32_t>(cluster.sites.size()) + 1};
    cluster.sites.push_back({id, node["rack"], node["datacenter"]});
    for (const VectorJson& token : node["tokens"]) {
      cluster.points[Token{static_cast<std::uint64_t>(token.get<std::int64_t>()) ^ kSign}] = id;
    }
  }
  if (json.contains("simple")) {
    cluster.replication = Replication::simple(json["simple"].get<std::uint32_t>());
    return cluster;
  }
  std::vector<DatacenterReplicas> wanted;
  for (const auto& [datacenter, replicas] : json["topology"].items()) {
    wanted.push_back({datacenter, replicas.get<std::uint32_t>()});
  }
  cluster.replication = Replication::topology(wanted);
  return cluster;
}

// A range ends with its token; what is above the last one belongs to the first.
std::vector<Arc> arcs_of(const std::map<Token, NodeId>& points) {
  std::vector<Arc> arcs;
  Token first = kFirstToken;
  for (const auto& [token, node] : points) {
    arcs.push_back({{first, token}, node});
    first = Token{token.value() + 1};
  }
  arcs.push_back({{first, kLastToken}, points.begin()->second});
  return arcs;
}

std::string word_of(std::span<const NodeId> nodes) {
  std::string word;
  for (const NodeId node : nodes) {
    word += "0123456789abcdefghijklmnopqrstuvwxyz"[node.value() - 1];
  }
  return word;
}

TEST(ReplicaVectors, AreTheChoiceOfCassandra) {
  const VectorJson file = testing::read_vectors("cassandra_network_topology.json");
  std::size_t compared = 0;
  for (const VectorJson& json : file["clusters"]) {
    const VectorCluster cluster = cluster_of(json);
    const auto table =
        ReplicaTable::build(arcs_of(cluster.points), cluster.sites, cluster.replication);
    ASSERT_TRUE(table) << table.error().message;
    const auto walks = testing::split(json["replicas"], ' ');
    const auto sets =
        testing::split(json.value("driver", json["replicas"].get<std::string>()), ' ');
    ASSERT_EQ(walks.size(), cluster.points.size());
    std::size_t at = 0;
    for (const auto& [token, node] : cluster.points) {
      const std::string ours = word_of(table->of(token));
      ASSERT_EQ(ours, walks[at]) << "cluster " << json.dump();
      // The driver may count a node twice: then it has one too few, never another one.
      const std::set<char> driver(sets[at].begin(), sets[at].end());
      ASSERT_TRUE(std::ranges::includes(std::set<char>(ours.begin(), ours.end()), driver));
      ++at;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3'580U);
}

}  // namespace
}  // namespace cleave::ring
