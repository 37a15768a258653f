#include "convert/convert_testing.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kGoodTwemproxy =
    "alpha:\n"
    "  listen: 127.0.0.1:22121\n"
    "  hash: fnv1a_64\n"
    "  hash_tag: \"{}\"\n"
    "  distribution: ketama\n"
    "  redis: true\n"
    "  redis_db: 0\n"
    "  auto_eject_hosts: false\n"
    "  servers:\n"
    "    - 127.0.0.1:7001:1\n"
    "    - 127.0.0.1:11211:2\n"
    "    - cache-3.example:7003:3 third\n";

Pool twemproxy(std::string_view text) { return pool_of(Peer::kTwemproxy, text); }

TEST(ReadTwemproxy, TakesThePoolOver) {
  const Pool pool = twemproxy(kGoodTwemproxy);
  EXPECT_EQ(pool.name, "alpha");
  EXPECT_EQ(pool.kind, Kind::kStore);
  EXPECT_EQ(pool.listener, "127.0.0.1:22121");
  EXPECT_EQ(pool.scheme.name, "twemproxy-ketama");
  const std::map<std::string, std::string, std::less<>> options = {{"hash", "fnv1a_64"},
                                                                   {"hash_tag", "{}"}};
  EXPECT_EQ(pool.scheme.options, options);
  EXPECT_EQ(pool.remarks, std::vector<Remark>{}) << remarks_of(pool);
}

// Hashed is the name; without one the address, and of that the host alone at memcached's port.
TEST(ReadTwemproxy, NamesServersAsTheyAreHashed) {
  const Pool pool = twemproxy(kGoodTwemproxy);
  const std::vector<PoolNode> want = {{"127.0.0.1:7001", 1, {"127.0.0.1:7001"}},
                                      {"127.0.0.1", 2, {"127.0.0.1:11211"}},
                                      {"third", 3, {"cache-3.example:7003"}}};
  EXPECT_EQ(pool.nodes, want);
}

TEST(ReadTwemproxy, KeepsANameThatLooksLikeTheDefaultPort) {
  const Pool pool = twemproxy(with(kGoodTwemproxy, "third", "third:11211"));
  EXPECT_EQ(pool.scheme.options.at("named"), "true");
  EXPECT_EQ(pool.nodes[2].name, "third:11211");
}

TEST(ReadTwemproxy, HasTheDefaultsOfThePeer) {
  const Pool pool = twemproxy("p:\n  listen: 0.0.0.0:1\n  redis: true\n  servers: [\"h:2:1\"]\n");
  EXPECT_EQ(pool.scheme.name, "twemproxy-ketama");
  EXPECT_TRUE(pool.scheme.options.empty());
}

TEST(ReadTwemproxy, TakesModulaAndThePasswordOver) {
  const Pool pool = twemproxy(
      with(with(kGoodTwemproxy, "ketama", "modula"), "redis_db: 0", "redis_auth: s3cret"));
  EXPECT_EQ(pool.scheme.name, "twemproxy-modula");
  EXPECT_EQ(pool.client_password, "s3cret");
  EXPECT_EQ(pool.server_password, "s3cret");
}

TEST(ReadTwemproxy, ExplainsWhatHasNoCounterpart) {
  for (const std::string_view line :
       {"timeout: 400", "backlog: 1024", "preconnect: true", "server_connections: 2",
        "server_retry_timeout: 30000", "server_failure_limit: 3", "client_connections: 100",
        "tcpkeepalive: true"}) {
    const Pool pool = twemproxy(with(kGoodTwemproxy, "redis_db: 0", line));
    ASSERT_EQ(pool.remarks.size(), 1U) << line;
    EXPECT_EQ(pool.remarks[0].line, 7U);
    EXPECT_TRUE(pool.remarks[0].text.starts_with(line)) << pool.remarks[0].text;
  }
  const Pool unix_socket = twemproxy(with(kGoodTwemproxy, "127.0.0.1:22121", "/run/nut.sock 0666"));
  EXPECT_EQ(unix_socket.listener, "");
  EXPECT_EQ(unix_socket.remarks.size(), 1U);
}

TEST(ReadTwemproxy, AMemcachedPoolIsACacheThatSaysSo) {
  std::string text = with(kGoodTwemproxy, "redis: true", "redis: false");
  text = with(text, "auto_eject_hosts: false", "auto_eject_hosts: true");
  const Pool pool = twemproxy(text);
  EXPECT_EQ(pool.kind, Kind::kCache);
  const std::string remarks = remarks_of(pool);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "speaks memcached", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "8: auto_eject_hosts", remarks);
}

TEST(ReadTwemproxy, RefusesWhatWouldMoveKeys) {
  expect_refusals(
      Peer::kTwemproxy, kGoodTwemproxy,
      {{"redis_db: 0", "redis_db: 3", "f:7: pool 'alpha': redis_db: 3"},
       {"auto_eject_hosts: false", "auto_eject_hosts: true", "f:8: pool 'alpha': auto_eject_hosts"},
       {"distribution: ketama", "distribution: random", "f:5: pool 'alpha': distribution: random"},
       {"distribution: ketama", "distribution: kettle", "'kettle' is unknown"},
       {"hash: fnv1a_64", "hash: sha3", "hash"},
       {"hash_tag: \"{}\"", "hash_tag: \"{\"", "two bytes"},
       {"127.0.0.1:11211:2", "127.0.0.1:7001:2 other", "127.0.0.1:7001 is there twice"},
       {"127.0.0.1:11211:2", "localhost:7001:2", "localhost:7001 is there twice"},
       {"127.0.0.1:11211:2", "127.0.0.1:7002:2 third", "'third' is there twice"},
       {"127.0.0.1:11211:2", "/run/redis.sock:1", "by TCP only"},
       {"127.0.0.1:11211:2", "127.0.0.1:11211:0", "f:11: pool 'alpha': server"},
       {"127.0.0.1:11211:2", "127.0.0.1:2", "want host:port:weight"},
       {"127.0.0.1:11211:2", "127.0.0.1:70000:2", "want a port"},
       {"redis_db: 0", "server_order: shuffle", "'server_order' is unknown"},
       {"redis: true", "redis: yes", "want true or false"},
       {"  listen: 127.0.0.1:22121\n", "", "'listen' is missing"},
       {"listen: 127.0.0.1:22121", "listen: nowhere", "want host:port"},
       {"redis_db: 0", "redis: true", "f:7: 'redis' is there twice"},
       {"alpha:", "alpha: [", "not YAML"}});
}

TEST(ReadTwemproxy, TellsEveryReasonAtOnce) {
  const std::string text =
      with(with(kGoodTwemproxy, "redis_db: 0", "redis_db: 1"), "ketama", "random");
  const std::string reasons = refusal_of(Peer::kTwemproxy, text);
  EXPECT_EQ(std::ranges::count(reasons, '\n'), 1) << reasons;
}

// Only the proportion of ketama's weights counts, so common factors may go; modula's table has as
// many entries as they sum up to.
TEST(ReadTwemproxy, DividesWeightsAboveOursWhereThatMovesNoKey) {
  const std::string heavy =
      with(with(kGoodTwemproxy, "7001:1", "7001:1500"), "11211:2", "11211:3000");
  const std::string text = with(heavy, "7003:3", "7003:4500");
  const Pool pool = twemproxy(text);
  EXPECT_EQ(pool.nodes[2].weight, 3U);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "divided by 1500", remarks_of(pool));
  std::vector<ring::PlacedNode> original = placed_nodes(pool);
  for (ring::PlacedNode& node : original) node.weight *= 1500;
  const auto before = ring::place(pool.scheme, original);
  const auto after = ring::place(pool.scheme, placed_nodes(pool));
  ASSERT_TRUE(before && after);
  EXPECT_TRUE(std::ranges::equal((*before)->arcs(), (*after)->arcs()));

  EXPECT_PRED_FORMAT2(testing::IsSubstring, "weight 4500: cleave takes 1 to 1000",
                      refusal_of(Peer::kTwemproxy, with(text, "ketama", "modula")));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "weight 1501",
                      refusal_of(Peer::kTwemproxy, with(text, "1500", "1501")));
}

TEST(ReadTwemproxy, RenamesAPoolThatCleaveCouldNotName) {
  const Pool pool = twemproxy(with(kGoodTwemproxy, "alpha:", "my pool/1:"));
  EXPECT_EQ(pool.name, "my-pool-1");
  EXPECT_EQ(pool.remarks.size(), 1U);
}

}  // namespace
}  // namespace cleave::convert
