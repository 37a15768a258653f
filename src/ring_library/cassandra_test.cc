// A Cassandra cluster through the public interface, as it would be moved to the library: its tokens
// as nodetool prints them, its racks and datacenters, its keys. Against the real Cassandra 4.1.5:
// the tokens of keys and the replicas of tokens (ring/testdata/vectors).
#include <gtest/gtest.h>

#include <cleave/ring.hpp>
#include <cleave/ring_replicas.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ring/schemes/vectors_testing.h"

namespace cleave {
namespace {

using ring::testing::VectorJson;

struct Cluster {
  Ring ring;
  RingReplicas replicas;
  // Of each of its tokens, one character a node, in the order of the walk.
  std::map<std::int64_t, std::string> recorded;
};

Ring ring_of(const VectorJson& nodes) {
  std::vector<Ring::Node> named;
  std::string tokens;
  for (const VectorJson& node : nodes) {
    named.push_back(
        {"10.0.0." + std::to_string(named.size()), 1, node["rack"], node["datacenter"]});
    tokens += (tokens.empty() ? "" : ";") + named.back().name + "=";
    std::string mine;
    for (const VectorJson& token : node["tokens"]) mine += (mine.empty() ? "" : ",") + token.dump();
    tokens += mine;
  }
  return {"cassandra", named, {{"tokens", tokens}}};
}

RingReplicas replicas_of(const Ring& ring, const VectorJson& cluster) {
  if (cluster.contains("simple")) return RingReplicas::simple(ring, cluster["simple"]);
  std::map<std::string, std::uint32_t> wanted;
  for (const auto& [datacenter, count] : cluster["topology"].items()) wanted[datacenter] = count;
  return RingReplicas::over_racks(ring, wanted);
}

Cluster cluster_of(const VectorJson& json) {
  const Ring ring = ring_of(json["nodes"]);
  std::map<std::int64_t, std::string> recorded;
  for (const VectorJson& node : json["nodes"]) {
    for (const VectorJson& token : node["tokens"]) recorded[token];
  }
  auto walk = recorded.begin();
  for (const std::string& word : ring::testing::split(json["replicas"], ' ')) {
    if (walk == recorded.end()) break;
    (walk++)->second = word;
  }
  EXPECT_EQ(walk, recorded.end());
  return {ring, replicas_of(ring, json), recorded};
}

std::string word_of(const std::vector<std::size_t>& nodes) {
  std::string word;
  for (const std::size_t node : nodes) word += "0123456789abcdefghijklmnopqrstuvwxyz"[node];
  return word;
}

TEST(Cassandra, KeysLieWhereItsOwnTokensPutThem) {
  const VectorJson hashed = ring::testing::read_vectors("cassandra_murmur3.json")["tokens"];
  const std::vector<std::string> keys = ring::testing::read_vector_keys();
  const VectorJson file = ring::testing::read_vectors("cassandra_network_topology.json");
  std::size_t compared = 0;
  for (const VectorJson& json : file["clusters"]) {
    const Cluster cluster = cluster_of(json);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto point = cluster.recorded.lower_bound(hashed[i].get<std::int64_t>());
      if (point == cluster.recorded.end()) point = cluster.recorded.begin();
      ASSERT_EQ(word_of(cluster.replicas.locate(keys[i])), point->second) << keys[i];
      ++compared;
    }
  }
  EXPECT_EQ(compared, 240'000U);
}

}  // namespace
}  // namespace cleave
