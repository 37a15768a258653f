// Every recorded configuration of every peer, every key. Each test states how many were compared,
// so that one that is left out is seen.
#include <gtest/gtest.h>

#include "ring/schemes/vectors_testing.h"

namespace cleave::ring {
namespace {

using testing::compare_file;
using testing::Compared;
using testing::Configuration;
using testing::parts_of;
using testing::placed_nodes;
using testing::VectorJson;

TEST(PeerVectors, Twemproxy) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"twemproxy-" + parts[1], {{"hash", parts[2]}}},
                         .nodes = placed_nodes(json["nodes"][parts[0]])};
    if (parts.size() > 3) result.spec.options["hash_tag"] = parts[3].substr(sizeof("hash_tag"));
    return result;
  };
  EXPECT_EQ(compare_file("twemproxy.json", describe), (Compared{59, 118'000, 0, 0}));
}

TEST(PeerVectors, Libmemcached) {
  static const std::map<std::string, std::string> kSchemes = {
      {"modula", "libmemcached-modula"},
      {"consistent", "libmemcached-ketama"},
      {"ketama_weighted", "libmemcached-ketama-weighted"},
      {"ketama_spy", "libmemcached-spy"}};
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {kSchemes.at(parts[1]), {{"hash", parts[2]}}}, .nodes = {}};
    if (parts[0] == "a_port22122") {
      result.nodes = {{"node-a:22122"}, {"node-b:22122"}, {"node-c:22122"}};
    } else {
      result.nodes = placed_nodes(json["nodes"][parts[0]]);
    }
    return result;
  };
  EXPECT_EQ(compare_file("libmemcached.json", describe), (Compared{120, 240'000, 0, 0}));
}

TEST(PeerVectors, Jedis) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"jedis", {{"hash", parts[2]}}}, .nodes = {}};
    result.spec.options["named"] = parts[1] == "named" ? "true" : "false";
    // A byte[] key ignores the pattern.
    if (parts.size() == 4) result.spec.options["key_tag"] = "default";
    result.nodes = placed_nodes(json["nodes"][parts[0]]);
    for (PlacedNode& node : result.nodes) node.name.resize(node.name.find(' '));
    return result;
  };
  EXPECT_EQ(compare_file("jedis_sharded.json", describe), (Compared{12, 24'000, 0, 0}));
}

TEST(PeerVectors, Nginx) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"nginx", {{"method", "consistent"}}},
                         .nodes = placed_nodes(json["nodes"][parts[0]]),
                         .sent = testing::trimmed};
    if (parts[1] == "plain") result.spec.options["method"] = "plain";
    if (parts[1] == "arg_consistent") result.sent = testing::percent_encoded;
    return result;
  };
  EXPECT_EQ(compare_file("nginx_hash.json", describe), (Compared{7, 13'976, 24, 0}));
}

// The header's value up to the first comma, or after the last.
std::string first_value(const std::string& key) {
  return testing::trimmed(key.substr(0, key.find(',')));
}

std::string last_value(const std::string& key) {
  return testing::trimmed(key.substr(key.rfind(',') + 1));
}

TEST(PeerVectors, Haproxy) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"haproxy", {}}, .nodes = {}, .sent = first_value};
    const std::size_t method = parts[1].starts_with("balance") ? 2 : 1;
    if (parts.size() > method + 1) {
      const std::string& hash = parts[method + 1];
      result.spec.options["method"] = parts[method];
      result.spec.options["hash"] = hash.substr(0, hash.find('+'));
      if (hash.ends_with("+avalanche")) result.spec.options["avalanche"] = "true";
    } else if (parts[1] == "hash-type consistent (bare)") {
      result.spec.options["method"] = "consistent";
    }
    if (parts[1].starts_with("balance hash")) result.sent = last_value;
    if (parts[1].starts_with("balance url")) {
      result.sent = testing::percent_encoded;
      result.spec.options["place_empty"] = "true";
    }
    if (parts[1].starts_with("balance uri")) {
      result.sent = [](const std::string& key) { return "/" + testing::percent_encoded(key); };
    }
    result.nodes = placed_nodes(json["nodes"][parts[0]]);
    return result;
  };
  EXPECT_EQ(compare_file("haproxy_hash.json", describe), (Compared{37, 73'858, 142, 0}));
}

TEST(PeerVectors, EnvoyHttp) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {}, .nodes = placed_nodes(json["nodes"][parts[0]])};
    result.sent = testing::trimmed;
    if (parts[1] == "ring_hash") {
      result.spec = {"envoy-ring", {{"hash", parts[2]}}};
    } else {
      const std::string size = parts[2].substr(sizeof("table"));
      result.spec = {"envoy-maglev", {{"table_size", size.substr(0, size.find('('))}}};
    }
    if (parts[3].starts_with("min_ring=")) {
      result.spec.options["min_ring"] = parts[3].substr(sizeof("min_ring"));
    }
    if (parts.back() == "address") {
      for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        result.nodes[i].name = json["nodes"][parts[0]][i][2].get<std::string>();
      }
    }
    return result;
  };
  EXPECT_EQ(compare_file("envoy_http.json", describe), (Compared{19, 37'886, 114, 0}));
}

TEST(PeerVectors, EnvoyRedisProxy) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"envoy-redis", {{"method", parts[1]}}},
                         .nodes = placed_nodes(json["nodes"][parts[0]])};
    if (parts[1] == "ring_hash") result.spec.options["hash"] = parts[2];
    if (parts.back() == "hashtagging") result.spec.options["hash_tag"] = "{}";
    if (parts.back() == "address") {
      for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        result.nodes[i].name = json["nodes"][parts[0]][i][2].get<std::string>();
      }
    }
    return result;
  };
  EXPECT_EQ(compare_file("envoy_redis_proxy.json", describe), (Compared{8, 16'000, 0, 0}));
}

TEST(PeerVectors, Spymemcached) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"spymemcached", {{"hash", parts[2]}}}, .nodes = {}};
    if (parts[1] == "arraymod") result.spec.options["method"] = "plain";
    if (parts[1].starts_with("ketama_libmemcachedfmt")) {
      result.spec.options["format"] = "LIBMEMCACHED";
    }
    result.nodes = placed_nodes(json["nodes"][parts[0] == "b" ? "b" : "a"]);
    for (PlacedNode& node : result.nodes) {
      const std::string stem = node.name.substr(0, node.name.rfind(':'));
      if (parts[0] == "a_port22122") node.name = stem + ":22122";
      if (parts[0] == "a_unresolved") {
        node.name = stem.substr(0, stem.find('/')) + "/<unresolved>:11211";
      }
    }
    return result;
  };
  EXPECT_EQ(compare_file("spymemcached.json", describe), (Compared{27, 54'000, 0, 0}));
}

TEST(PeerVectors, Uhashring) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"uhashring", {}}, .nodes = placed_nodes(json["nodes"][parts[0]])};
    if (parts[1] == "ketama") result.spec.options["hash"] = "ketama";
    if (parts[1] == "hash_fn=sha1_hexint") result.spec.options["hash"] = "sha1_hexint";
    return result;
  };
  EXPECT_EQ(compare_file("uhashring.json", describe), (Compared{9, 18'000, 0, 0}));
}

TEST(PeerVectors, NpmHashring) {
  static const std::map<std::string, SchemeSpec> kSpecs = {
      {"md5 (default)", {"npm-hashring", {}}},
      {"sha1", {"npm-hashring", {{"hash", "sha1"}}}},
      {"md5 hash_ring compat", {"npm-hashring", {{"format", "hash_ring"}}}},
      {"md5 default port=11211", {"npm-hashring", {{"default_port", "11211"}}}},
      {"md5 vnode count=100", {"npm-hashring", {{"points", "100"}}}}};
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = kSpecs.at(parts[1]), .nodes = {}};
    for (const auto& [name, weight] : json["nodes"][parts[0]].items()) {
      result.nodes.push_back({name, weight.get<std::uint32_t>()});
    }
    return result;
  };
  EXPECT_EQ(compare_file("npm_hashring.json", describe), (Compared{18, 36'000, 0, 0}));
}

TEST(PeerVectors, GoRedis) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    return Configuration{.spec = {"go-redis", {}}, .nodes = placed_nodes(json["nodes"][id])};
  };
  EXPECT_EQ(compare_file("go_redis_ring.json", describe), (Compared{1, 2'000, 0, 0}));
}

TEST(PeerVectors, Pymemcache) {
  const auto describe = [](const VectorJson& json, const std::string& id) {
    const auto parts = parts_of(id);
    Configuration result{.spec = {"pymemcache", {}}, .nodes = placed_nodes(json["nodes"]["a"])};
    result.dot_is_no_place = true;
    if (parts[1] == "allow_unicode=False") result.spec.options["allow_unicode"] = "false";
    if (parts[1] == "allow_unicode=True") result.spec.options["allow_unicode"] = "true";
    if (parts[2] == "byteskey") result.spec.options["format"] = "bytes";
    return result;
  };
  EXPECT_EQ(compare_file("pymemcache_rendezvous.json", describe), (Compared{5, 10'000, 0, 0}));
}

// The number of buckets is the number of nodes; the last sizes recorded are beyond our limits and
// are left to the hash itself (hash_vectors_test.cc).
void compare_jump(const std::string& file, const std::string& scheme, const std::string& inputs) {
  const VectorJson json = testing::read_vectors(file);
  std::size_t compared = 0;
  for (const auto& [buckets, recorded] : json["vectors"].items()) {
    const std::size_t count = std::stoul(buckets);
    if (count > kPlacedNodesMax) continue;
    std::vector<PlacedNode> nodes(count);
    for (std::size_t i = 0; i < count; ++i) nodes[i].name = std::to_string(i);
    const auto placement = place({scheme, {}}, nodes);
    ASSERT_TRUE(placement) << placement.error().message;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      EXPECT_EQ((*placement)->owner(json[inputs][i].dump()), recorded[i].get<std::size_t>());
      ++compared;
    }
  }
  EXPECT_EQ(compared, 550U);
}

TEST(PeerVectors, Jump) { compare_jump("jump_hash.json", "jump", "inputs_unsigned64"); }
TEST(PeerVectors, Guava) { compare_jump("guava_consistent_hash.json", "guava", "inputs_signed64"); }

TEST(PeerVectors, RedisCluster) {
  const VectorJson json = testing::read_vectors("redis_cluster_keyslot.json");
  const auto keys = testing::read_vector_keys();
  const auto placement = place({"redis-cluster", {}}, std::vector<PlacedNode>{{"a"}, {"b"}});
  ASSERT_TRUE(placement) << placement.error().message;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*placement)->token_of(keys[i])->value(), json["slots"][i].get<std::uint64_t>()
                                                            << 50U);
  }
}

TEST(PeerVectors, Cassandra) {
  const VectorJson json = testing::read_vectors("cassandra_murmur3.json");
  const auto keys = testing::read_vector_keys();
  const auto placement = place({"cassandra", {}}, std::vector<PlacedNode>{{"a"}, {"b"}});
  ASSERT_TRUE(placement) << placement.error().message;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto token = static_cast<std::uint64_t>(json["tokens"][i].get<std::int64_t>());
    EXPECT_EQ((*placement)->token_of(keys[i])->value(), token ^ (std::uint64_t{1} << 63U)) << i;
  }
}

TEST(PeerVectors, Murmur64aVnode) {
  const VectorJson json = testing::read_vectors("mission_murmur64a_ring.json");
  const auto nodes = placed_nodes(json["nodes"]);
  ASSERT_EQ(json["rings"].size(), 4U);
  for (const VectorJson& ring : json["rings"]) {
    const auto placement = place({"murmur64a-vnode", {{"points", ring["vnodes"].dump()}}}, nodes);
    ASSERT_TRUE(placement) << placement.error().message;
    std::vector<std::size_t> counts(nodes.size());
    for (std::size_t i = 0; i < 5'000; ++i) {
      const auto owner = (*placement)->owner("k" + std::to_string(i));
      ++counts[*owner];
      if (i < 100) {
        EXPECT_EQ(*owner, ring["owner_k0_k99"][i].get<std::size_t>());
      }
    }
    EXPECT_EQ(counts, ring["counts"].get<std::vector<std::size_t>>());
  }
}

// The first sixty keys and the counts of the churn demonstration.
TEST(PeerVectors, JavaVnode) {
  const auto counts_of = [](const std::vector<PlacedNode>& nodes) {
    std::vector<std::size_t> counts(nodes.size());
    const auto placement = place({"java-vnode", {}}, nodes);
    for (std::size_t i = 0; i < 10'000; ++i) {
      ++counts[*(*placement)->owner("data_key_" + std::to_string(i))];
    }
    return counts;
  };
  const PlacedNode a{"CacheServer-A"};
  const PlacedNode b{"CacheServer-B"};
  const PlacedNode c{"CacheServer-C"};
  EXPECT_EQ(counts_of({a, b}), (std::vector<std::size_t>{9'010, 990}));
  EXPECT_EQ(counts_of({a, b, c}), (std::vector<std::size_t>{10, 90, 9'900}));
  EXPECT_EQ(counts_of({a, c}), (std::vector<std::size_t>{100, 9'900}));
}

}  // namespace
}  // namespace cleave::ring
