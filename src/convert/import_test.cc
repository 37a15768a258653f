#include "convert/import.h"

#include "convert/testing.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kTwo =
    "alpha:\n  listen: 127.0.0.1:1\n  redis: true\n  servers:\n   - 127.0.0.1:7001:1\n"
    "beta:\n  listen: 127.0.0.1:2\n  redis: true\n  redis_db: 2\n  servers:\n"
    "   - 127.0.0.1:7002:1\n";

TEST(Recognise, TellsPeersByTheirText) {
  struct Case {
    std::string_view text;
    Peer peer;
  };
  const std::vector<Case> cases = {
      {kTwo, Peer::kTwemproxy},
      {"# a comment; with a semicolon {\nupstream a {\n hash $uri;\n server b; }\n", Peer::kNginx},
      {"http {\n  upstream a { hash $uri; server b; }\n}\n", Peer::kNginx},
      {"global\n  maxconn 5\nbackend a\n  balance hdr(x)\n", Peer::kHaproxy},
      {"listen a\n  bind :80\n  balance uri\n", Peer::kHaproxy},
      {"static_resources:\n  clusters: []\n", Peer::kEnvoy},
      {"{\"staticResources\": {}}", Peer::kEnvoy},
      {"[{\"id\": 0, \"group_id\": 1}]", Peer::kCodis},
      {"{\"slots\": [], \"group\": []}", Peer::kCodis}};
  for (const Case& one : cases) {
    const auto peer = recognise(one.text);
    ASSERT_TRUE(peer) << one.text;
    EXPECT_EQ(to_string(*peer), to_string(one.peer)) << one.text;
  }
}

TEST(Recognise, RefusesWhatIsNobodys) {
  for (const std::string_view text :
       {"", "# nothing\n", "hello world\n", "a: 1\n", "listeners: []\npools:\n  - servers: {}\n"}) {
    const auto peer = recognise(text);
    ASSERT_FALSE(peer) << text;
    EXPECT_EQ(peer.error().code, Code::kInvalid);
  }
}

TEST(ParsePeer, KnowsItsNames) {
  for (const std::string_view name : {"twemproxy", "nginx", "haproxy", "envoy", "codis"}) {
    const auto peer = parse_peer(name);
    ASSERT_TRUE(peer);
    EXPECT_EQ(to_string(*peer), name);
  }
  const auto unknown = parse_peer("squid");
  ASSERT_FALSE(unknown);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "haproxy", unknown.error().message);
}

TEST(ImportPools, TakesThePoolThatIsNamed) {
  const auto imported = import_pools(kTwo, {.file = "f", .from = {}, .pool = "alpha"});
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->pools.size(), 1U);
  EXPECT_EQ(imported->pools[0].name, "alpha");
}

TEST(ImportPools, RefusesAllForTheSakeOfOne) {
  const auto imported = import_pools(kTwo, {.file = "f", .from = {}, .pool = {}});
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, Code::kInvalid);
  EXPECT_TRUE(imported.error().message.starts_with("f:9: pool 'beta': redis_db"))
      << imported.error().message;
}

TEST(ImportPools, NamesThePoolsThatThereAre) {
  const auto imported = import_pools(kTwo, {.file = "f", .from = {}, .pool = "gamma"});
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, Code::kNotFound);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "alpha, beta", imported.error().message);
}

}  // namespace
}  // namespace cleave::convert
