#include "convert/convert_testing.h"
#include "convert/read/haproxy_lines.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kGoodHaproxy =
    "global\n"
    "  maxconn 100\n"
    "defaults\n"
    "  mode http\n"
    "  balance roundrobin\n"
    "frontend in\n"
    "  default_backend cache\n"
    "backend cache\n"
    "  balance hdr(x-key)\n"
    "  hash-type consistent djb2 avalanche\n"
    "  server one 10.0.0.1:80 weight 3\n"
    "  server two ipv4@10.0.0.2:81\n"
    "  server three 10.0.0.3:82\n"
    "backend other\n"
    "  server x 10.0.0.9:80\n";

using Options = std::map<std::string, std::string, std::less<>>;

Options options_of(std::string_view hash_type) {
  const Pool pool = pool_of(
      Peer::kHaproxy, with(kGoodHaproxy, "  hash-type consistent djb2 avalanche\n", hash_type));
  return pool.scheme.options;
}

std::string names_of(const Pool& pool) {
  std::string names;
  for (const PoolNode& node : pool.nodes) names += node.name + " ";
  return names;
}

TEST(ReadHaproxy, TakesTheBackendOver) {
  const Pool pool = pool_of(Peer::kHaproxy, kGoodHaproxy);
  EXPECT_EQ(pool.name, "cache");
  EXPECT_EQ(pool.kind, Kind::kCache);
  EXPECT_EQ(pool.scheme.name, "haproxy");
  EXPECT_EQ(pool.scheme.options,
            (Options{{"method", "consistent"}, {"hash", "djb2"}, {"avalanche", "true"}}));
  const std::vector<PoolNode> want = {
      {.name = "one", .weight = 3, .members = {"10.0.0.1:80"}, .position = 0},
      {.name = "two", .weight = 1, .members = {"10.0.0.2:81"}, .position = 1},
      {.name = "three", .weight = 1, .members = {"10.0.0.3:82"}, .position = 2}};
  EXPECT_EQ(pool.nodes, want);
  const std::string remarks = remarks_of(pool);
  EXPECT_EQ(pool.remarks.size(), 2U) << remarks;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "9: HAProxy places each request by 'hdr(x-key)'",
                      remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "0: mode of 'defaults'", remarks);
}

TEST(ReadHaproxy, HasTheDefaultsOfThePeer) {
  EXPECT_EQ(options_of(""), (Options{{"method", "map-based"}}));
  EXPECT_EQ(options_of("  hash-type consistent\n"), (Options{{"method", "consistent"}}));
  EXPECT_EQ(options_of("  hash-type map-based wt6\n"),
            (Options{{"method", "map-based"}, {"hash", "wt6"}, {"avalanche", "false"}}));
  const Pool parameter = pool_of(Peer::kHaproxy, with(kGoodHaproxy, "hdr(x-key)", "url_param k"));
  EXPECT_EQ(parameter.scheme.options.at("place_empty"), "true");
}

TEST(ReadHaproxy, InheritsFromDefaults) {
  constexpr std::string_view kText =
      "defaults a\n  balance uri\n  hash-type consistent\n  default-server weight 7 check\n"
      "defaults b\n  balance roundrobin\n"
      "backend one from a\n  server s 10.0.0.1:80\n  server t 10.0.0.2:80 weight 2\n"
      "backend two\n  server s 10.0.0.1:80\n"
      "defaults c from a\n  hash-type map-based\n"
      "listen three\n  default-server weight 9\n  server s 10.0.0.1:80\n";
  const auto imported = import_pools(kText, {.file = "f", .from = {}, .pool = {}});
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->pools.size(), 2U);
  EXPECT_EQ(imported->pools[0].scheme.options.at("method"), "consistent");
  EXPECT_EQ(imported->pools[0].nodes[0].weight, 7U);
  EXPECT_EQ(imported->pools[0].nodes[1].weight, 2U);
  EXPECT_EQ(imported->pools[1].name, "three");
  EXPECT_EQ(imported->pools[1].scheme.options.at("method"), "map-based");
  EXPECT_EQ(imported->pools[1].nodes[0].weight, 9U);
  ASSERT_EQ(imported->passed_over.size(), 1U);
}

// consistent hashes ids, so they give the order of the nodes; map-based goes by the list.
TEST(ReadHaproxy, OrdersByIdsWhereTheyAreHashed) {
  const std::string text =
      with(with(kGoodHaproxy, "weight 3", "id 3"), "10.0.0.3:82", "10.0.0.3:82 id 1");
  EXPECT_EQ(names_of(pool_of(Peer::kHaproxy, text)), "three two one ");
  const std::string map_based =
      with(with(kGoodHaproxy, "consistent", "map-based"), "weight 3", "id 70");
  EXPECT_EQ(names_of(pool_of(Peer::kHaproxy, map_based)), "one two three ");
}

std::vector<std::uint32_t> positions_of(const Pool& pool) {
  std::vector<std::uint32_t> positions;
  for (const PoolNode& node : pool.nodes) positions.push_back(node.position.value_or(999));
  return positions;
}

// Ids are hashed, so gaps between them stay; map-based does not look at them.
TEST(ReadHaproxy, KeepsGapsBetweenIds) {
  const std::string text =
      with(with(kGoodHaproxy, "weight 3", "id 70"), "10.0.0.3:82", "10.0.0.3:82 id 2147483647");
  const Pool pool = pool_of(Peer::kHaproxy, text);
  EXPECT_EQ(names_of(pool), "two one three ");
  EXPECT_EQ(positions_of(pool), (std::vector<std::uint32_t>{1, 69, 2'147'483'646}));
  EXPECT_EQ(positions_of(pool_of(Peer::kHaproxy, with(text, "consistent", "map-based"))),
            (std::vector<std::uint32_t>{999, 999, 999}));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "server one: '2147483648' is no id",
                      refusal_of(Peer::kHaproxy, with(kGoodHaproxy, "weight 3", "id 2147483648")));
}

// A server without an id gets the lowest free one, counted from its place in the list.
TEST(ReadHaproxy, NumbersServersAsThePeer) {
  EXPECT_EQ(
      names_of(pool_of(Peer::kHaproxy, with(kGoodHaproxy, "10.0.0.3:82", "10.0.0.3:82 id 1"))),
      "three one two ");
  const std::string twice =
      with(with(kGoodHaproxy, "weight 3", "id 2"), "10.0.0.3:82", "10.0.0.3:82 id 2");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "server three: id 2 is there twice",
                      refusal_of(Peer::kHaproxy, twice));
}

TEST(ReadHaproxy, LeavesOutServersWithoutKeys) {
  for (const std::string_view word : {"backup", "disabled", "weight 0"}) {
    const std::string last = "10.0.0.3:82 " + std::string(word);
    const Pool pool = pool_of(Peer::kHaproxy, with(kGoodHaproxy, "10.0.0.3:82", last));
    EXPECT_EQ(names_of(pool), "one two ");
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "13: server three", remarks_of(pool));
    // Those behind it keep their ids.
    const Pool behind = pool_of(Peer::kHaproxy, with(kGoodHaproxy, "weight 3", word));
    EXPECT_EQ(names_of(behind), "two three ");
    EXPECT_EQ(positions_of(behind), (std::vector<std::uint32_t>{1, 2}));
  }
}

TEST(ReadHaproxy, ExplainsWhatHasNoCounterpart) {
  const std::string text =
      with(with(kGoodHaproxy, "10.0.0.3:82", "10.0.0.3:82 check inter 2s maxconn 20"),
           "  hash-type", "  option httpchk\n  timeout server 5s\n  hash-type");
  const std::string remarks = remarks_of(pool_of(Peer::kHaproxy, text));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "10: 'option httpchk'", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "11: 'timeout server 5s'", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "15: server three: check inter maxconn", remarks);
}

TEST(ReadHaproxy, RefusesWhatWouldMoveKeys) {
  expect_refusals(Peer::kHaproxy, kGoodHaproxy,
                  {{"  hash-type", "  hash-balance-factor 125\n  hash-type",
                    "f:10: pool 'cache': hash-balance"},
                   {"  hash-type", "  stick on src\n  hash-type", "a stick table decides"},
                   {"  hash-type", "  cookie S insert\n  hash-type", "a cookie decides"},
                   {"  hash-type", "  use-server one if x\n  hash-type", "a rule decides"},
                   {"  hash-type", "  server-template s 1-3 h:80\n  hash-type", "come from DNS"},
                   {"  hash-type", "  wonder\n  hash-type", "'wonder' may place keys"},
                   {"  hash-type", "  option http_proxy\n  hash-type", "own address decides"},
                   {"mode http", "cookie S insert", "f:4: pool 'cache': 'cookie S insert'"},
                   {"weight 3", "agent-check", "an agent changes the weight"},
                   {"weight 3", "slowstart 5s", "changes after a start"},
                   {"weight 3", "maxqueue 5", "keys of a full server"},
                   {"weight 3", "wonder", "'wonder' is unknown"},
                   {"weight 3", "weight 257", "'257' is no weight"},
                   {"weight 3", "id 0", "'0' is no id"},
                   {"10.0.0.3:82", "10.0.0.1:80", "10.0.0.1:80 is there twice"},
                   {"10.0.0.3:82", "10.0.0.3", "want host:port"},
                   {"10.0.0.3:82", "/run/a.sock", "by TCP only"},
                   {"10.0.0.3:82", "10.0.0.3:+5", "want a port"},
                   {"server three", "server two", "'two' is there twice"},
                   {"djb2", "md5", "md5"},
                   {"djb2 avalanche", "djb2 avalance", "want: hash-type METHOD"},
                   {"consistent", "constant", "'constant' is unknown"},
                   {"hdr(x-key)", "source", "balance source does not place by a key"},
                   {"backend cache", "backend cache \"", "f:7: a quote is not closed"}});
}

TEST(ParseHaproxy, ReadsWordsAsThePeer) {
  const auto sections =
      parse_haproxy("backend b # c\n  a \"b # c\" 'd \\e' f\\ g h#i\n\n  j \"k\"l\n", "f");
  ASSERT_TRUE(sections) << sections.error().message;
  ASSERT_EQ(sections->size(), 1U);
  const std::vector<std::string> want = {"a", "b # c", "d \\e", "f g", "h"};
  EXPECT_EQ((*sections)[0].lines[0].words, want);
  EXPECT_EQ((*sections)[0].lines[1].words, (std::vector<std::string>{"j", "kl"}));
  EXPECT_EQ((*sections)[0].lines[1].line, 4U);
  for (const std::string_view text : {"a\n", "backend b\n a 'b\n", "global\n.if 1\n"}) {
    EXPECT_FALSE(parse_haproxy(text, "f")) << text;
  }
}

}  // namespace
}  // namespace cleave::convert
