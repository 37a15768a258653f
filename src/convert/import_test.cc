#include "convert/import.h"

#include <array>

#include "base/rng.h"
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

// Behind a comma at the start yaml-cpp alone would find documents for ever.
TEST(ImportPools, WantsOneDocument) {
  for (const std::string_view text :
       {",", "}", "a: 1\n]\n", "{\"a\": [1]}]", "a: 1\n---\nb: 2\n"}) {
    for (const Peer peer : {Peer::kTwemproxy, Peer::kEnvoy, Peer::kCodis}) {
      const auto imported = import_pools(text, {.file = "f", .from = peer, .pool = {}});
      ASSERT_FALSE(imported);
      EXPECT_EQ(imported.error().code, Code::kInvalid);
    }
  }
}

// A text of each peer, to be damaged.
constexpr std::array<std::string_view, 5> kSamples = {
    kTwo,
    "http {\n upstream a {\n  hash \"$uri\" consistent;\n  server 10.0.0.1:80 weight=2;\n"
    "  server b;\n }\n}\n",
    "defaults\n balance uri\nbackend a\n hash-type consistent sdbm\n server b 10.0.0.1:80 id 1\n"
    " server c 10.0.0.2:80 weight 3 'check'\n",
    "static_resources:\n  clusters:\n  - name: a\n    lb_policy: RING_HASH\n    load_assignment:\n"
    "      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, "
    "port_value: 80}}}}]}]\n",
    "{\"slots\": [{\"id\": 0, \"group_id\": 1}], \"group\": [{\"id\": 1, \"servers\": "
    "[{\"server\": \"h:1\"}]}]}"};

std::string damaged(std::string_view sample, Rng& rng) {
  std::string text(sample);
  for (std::uint64_t damages = 1 + rng.below(4); damages > 0 && !text.empty(); --damages) {
    const std::size_t at = rng.below(text.size());
    const std::size_t size = 1 + rng.below(std::min<std::size_t>(20, text.size() - at));
    switch (rng.below(4)) {
      case 0: text.erase(at, size); break;
      case 1: text.insert(at, text.substr(rng.below(text.size()), size)); break;
      case 2: text[at] = static_cast<char>(rng.below(256)); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

// Whatever stands in a file: pools that can be written, or an error that says where.
TEST(ImportPools, SurvivesDamage) {
  std::size_t accepted = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::size_t peer = seed % kSamples.size();
    const std::string text = damaged(kSamples.at(peer), rng);
    const auto imported = import_pools(
        text,
        {.file = "f", .from = static_cast<Peer>(peer), .pool = rng.chance(1, 2) ? "" : "alpha"});
    if (!imported) {
      ASSERT_FALSE(imported.error().message.empty());
      ASSERT_TRUE(imported.error().message.starts_with("f:")) << imported.error().message;
      continue;
    }
    ++accepted;
    for (const Pool& pool : imported->pools)
      ASSERT_TRUE(ring::place(pool.scheme, placed_nodes(pool))) << text;
  }
  EXPECT_GT(accepted, 50U);
  EXPECT_LT(accepted, 4'000U);
}

}  // namespace
}  // namespace cleave::convert
