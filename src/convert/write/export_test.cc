#include "convert/write/export.h"

#include "base/rng.h"
#include "convert/convert_testing.h"

namespace cleave::convert {
namespace {

// Any of the options of a scheme that its peer can say.
struct Scheme {
  Peer peer;
  std::string_view name;
  std::vector<std::vector<std::pair<std::string, std::string>>> options;  // each: one of them
  std::uint32_t weight_max = 30;
};

std::vector<Scheme> schemes_of_peers() {
  using List = std::vector<std::pair<std::string, std::string>>;
  const List hashes = {{"hash", "md5"}, {"hash", "fnv1a_64"}, {"hash", "crc32a"}};
  const List tags = {{"hash_tag", "{}"}, {"hash_tag", "$$"}};
  const List named = {{"named", "true"}};
  const List ring_hashes = {{"hash", "XX_HASH"}, {"hash", "MURMUR_HASH_2"}};
  const List rings = {{"min_ring", "16"}, {"min_ring", "1000"}};
  const List tables = {{"table_size", "1009"}, {"table_size", "211"}};
  return {{Peer::kTwemproxy, "twemproxy-ketama", {hashes, tags, named}},
          {Peer::kTwemproxy, "twemproxy-modula", {hashes, tags}},
          {Peer::kNginx, "nginx", {{{"method", "plain"}, {"method", "consistent"}}}, 9},
          {Peer::kHaproxy,
           "haproxy",
           {{{"method", "map-based"}, {"method", "consistent"}},
            {{"hash", "sdbm"}, {"hash", "wt6"}},
            {{"avalanche", "true"}, {"avalanche", "false"}},
            {{"place_empty", "true"}}},
           30},
          {Peer::kEnvoy, "envoy-ring", {ring_hashes, rings}, 9},
          {Peer::kEnvoy, "envoy-maglev", {tables}, 9},
          {Peer::kEnvoy,
           "envoy-redis",
           {{{"method", "ring_hash"}}, ring_hashes, rings, {{"hash_tag", "{}"}}},
           9},
          {Peer::kEnvoy, "envoy-redis", {{{"method", "maglev"}}, tables}, 9}};
}

Pool random_pool(Rng& rng, const Scheme& scheme) {
  Pool pool;
  pool.name = "p-" + std::to_string(rng.below(100));
  pool.listener =
      (rng.chance(1, 4) ? "[::1]:" : "127.0.0.1:") + std::to_string(1 + rng.below(65'535));
  pool.scheme.name = scheme.name;
  for (const auto& choices : scheme.options) {
    if (rng.chance(1, 3)) continue;
    const auto& [option, value] = choices[rng.below(choices.size())];
    pool.scheme.options[option] = value;
  }
  const std::size_t nodes = 1 + rng.below(9);
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string host =
        rng.chance(1, 5)
            ? "[fd00::" + std::to_string(rng.below(256)) + ":" + std::to_string(i) + "]"
            : "10.0." + std::to_string(rng.below(256)) + "." + std::to_string(i);
    const std::string address = host + (rng.chance(1, 3) ? ":11211" : ":7001");
    const bool by_address = scheme.peer == Peer::kNginx || rng.chance(1, 2);
    pool.nodes.push_back(
        {by_address ? address : "node-" + std::to_string(rng.below(50)) + ":" + std::to_string(i),
         1 + static_cast<std::uint32_t>(rng.below(scheme.weight_max)),
         {address}});
  }
  return pool;
}

// Whatever can be written is read back as the same pool, key by key.
TEST(ExportPool, IsImportedAsItWas) {
  const std::vector<Scheme> schemes = schemes_of_peers();
  for (std::uint64_t seed = 0; seed < 1'200; ++seed) {
    Rng rng(seed);
    const Scheme& scheme = schemes[seed % schemes.size()];
    const Pool pool = random_pool(rng, scheme);
    const auto text = export_pool(scheme.peer, pool);
    ASSERT_TRUE(text) << text.error().message;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + *text);
    const auto told = recognise(*text);
    ASSERT_TRUE(told);
    ASSERT_EQ(*told, scheme.peer);
    const Pool back = pool_of(scheme.peer, *text);
    ASSERT_EQ(back.name, pool.name);
    if (!back.listener.empty()) {  // those of nginx are in files of their own
      ASSERT_EQ(back.listener, pool.listener);
    }
    expect_same_places(back, pool);
    if (testing::Test::HasFailure()) return;  // the first seed tells enough
  }
}

Pool twemproxy_pool() {
  Pool pool;
  pool.name = "main";
  pool.scheme.name = "twemproxy-ketama";
  pool.nodes = {{"a", 1, {"127.0.0.1:7001"}}, {"127.0.0.1:7002", 2, {"127.0.0.1:7002"}}};
  return pool;
}

std::string error_of(Peer peer, const Pool& pool) {
  const auto text = export_pool(peer, pool);
  return text ? "exported" : text.error().message;
}

TEST(ExportPool, TakesPasswordsAndListenerAlong) {
  Pool pool = twemproxy_pool();
  pool.listener = "127.0.0.1:22121";
  pool.client_password = pool.server_password = "p: \"q\"";
  const auto nut = export_pool(Peer::kTwemproxy, pool);
  ASSERT_TRUE(nut);
  const Pool back = pool_of(Peer::kTwemproxy, *nut);
  EXPECT_EQ(back.client_password, pool.client_password);
  EXPECT_EQ(back.listener, pool.listener);
  EXPECT_EQ(back.nodes, pool.nodes);

  pool.scheme = {.name = "envoy-redis"};
  pool.client_password = "other";
  pool.server_user = "me";
  const auto bootstrap = export_pool(Peer::kEnvoy, pool);
  ASSERT_TRUE(bootstrap);
  const Pool from_envoy = pool_of(Peer::kEnvoy, *bootstrap);
  EXPECT_EQ(from_envoy.client_password, "other");
  EXPECT_EQ(from_envoy.server_password, pool.server_password);
  EXPECT_EQ(from_envoy.server_user, "me");
  EXPECT_EQ(from_envoy.listener, pool.listener);
}

// In brackets twemproxy would ask the name service for it, and YAML would read a list.
TEST(ExportPool, WritesIpv6WithoutBracketsForTwemproxy) {
  Pool pool = twemproxy_pool();
  pool.listener = "[::1]:22121";
  pool.nodes[0].members = {"[fd00::1]:7001"};
  pool.nodes[1] = {"fd00::2:7002", 1, {"[fd00::2]:7002"}};
  const auto text = export_pool(Peer::kTwemproxy, pool);
  ASSERT_TRUE(text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "listen: \"::1:22121\"\n", *text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "- \"fd00::1:7001:1 a\"\n", *text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "- \"fd00::2:7002:1\"\n", *text);
}

// A node that left the ring has left its position, which HAProxy hashes, to nobody.
TEST(ExportPool, KeepsThePositionsOfARunningRing) {
  Pool pool = twemproxy_pool();
  pool.scheme = {.name = "haproxy", .options = {{"method", "consistent"}}};
  pool.nodes[0].position = 1;
  pool.nodes[1].position = 4;
  const auto text = export_pool(Peer::kHaproxy, pool);
  ASSERT_TRUE(text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "server a 127.0.0.1:7001 id 2 weight 1", *text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "127.0.0.1:7002 id 5 weight 2", *text);
}

TEST(ExportPool, RefusesWhatThePeerCannotSay) {
  Pool pool = twemproxy_pool();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "with twemproxy only, not with nginx",
                      error_of(Peer::kNginx, pool));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "not with codis", error_of(Peer::kCodis, pool));
  pool.server_password = "only there";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "one for both", error_of(Peer::kTwemproxy, pool));
  pool.server_password = pool.client_password = "\xD7";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no UTF-8", error_of(Peer::kTwemproxy, pool));
  pool = twemproxy_pool();
  pool.scheme.options["hash_tag"] = "\xD7}";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "option hash_tag is no UTF-8",
                      error_of(Peer::kTwemproxy, pool));
  pool = twemproxy_pool();
  pool.server_user = "me";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "user", error_of(Peer::kTwemproxy, pool));
  pool = twemproxy_pool();
  pool.nodes[0].hash_key = "a b";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no blanks", error_of(Peer::kTwemproxy, pool));
  pool = twemproxy_pool();
  pool.nodes[0].members.clear();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "'a': no address", error_of(Peer::kTwemproxy, pool));
  pool = twemproxy_pool();
  pool.scheme.name = "nginx";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "node 'a' is at", error_of(Peer::kNginx, pool));
  pool.scheme.name = "haproxy";
  pool.nodes[0].weight = 257;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "at most 256", error_of(Peer::kHaproxy, pool));
  for (const std::string_view scheme : {"vnode", "jedis", "codis"}) {
    pool = twemproxy_pool();
    pool.scheme.name = scheme;
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "which no proxy", error_of(Peer::kTwemproxy, pool));
  }
}

TEST(CheckExportable, WantsAQuietRing) {
  EXPECT_TRUE(check_exportable({}));
  ring::Document document;
  document.nodes.resize(2);
  document.nodes[1].name = "b";
  EXPECT_TRUE(check_exportable(summary_of(document)));

  const auto refusal = [&](const ring::Document& busy) {
    const auto checked = check_exportable(summary_of(busy));
    if (checked) return std::string("exportable");
    EXPECT_EQ(checked.error().code, Code::kConflict);
    return checked.error().message;
  };
  ring::Document cut = document;
  cut.cuts.emplace_back();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "`cleave flatten` first", refusal(cut));
  ring::Document moving = document;
  moving.moves.emplace_back();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "1 moves are under way", refusal(moving));
  ring::Document draining = document;
  draining.nodes[1].state = ring::NodeState::kDraining;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "'b' is draining", refusal(draining));
}

}  // namespace
}  // namespace cleave::convert
