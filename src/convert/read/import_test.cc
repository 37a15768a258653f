#include "convert/read/import.h"

#include <algorithm>

#include "base/damage_testing.h"
#include "convert/convert_testing.h"
#include "convert/samples_testing.h"
#include "convert/write/export.h"

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

// By an alias within what it names: a tree without end.
TEST(ImportPools, RefusesAValueWithinItself) {
  for (const std::string_view text :
       {"a: &x\n  listen: 127.0.0.1:1\n  servers: *x\n", "a: &x [*x]\n", "- &x {slots: *x}\n"}) {
    for (const Peer peer : {Peer::kTwemproxy, Peer::kEnvoy, Peer::kCodis})
      EXPECT_PRED_FORMAT2(testing::IsSubstring, "or in itself", refusal_of(peer, text)) << text;
  }
}

TEST(ImportPools, TakesTheSamples) {
  for (const Sample& sample : kSamples) EXPECT_EQ(refusal_of(sample.peer, sample.text), "accepted");
}

// What is read back of a pool that its peer can say. What nginx and HAProxy have no word for, such
// as the names of a server, is not compared; where the keys are, is.
void expect_written_pool_is_the_same(Peer peer, const Pool& pool) {
  const auto text = export_pool(peer, pool);
  if (!text) {
    EXPECT_FALSE(text.error().message.empty());
    return;
  }
  expect_same_places(pool_of(peer, *text), pool);
}

// Whatever stands in a file: pools that can be written and read back, or an error that says where.
void survive_damage(Peer peer) {
  std::vector<std::string_view> goods;
  for (const Sample& sample : kSamples) {
    if (sample.peer == peer) goods.push_back(sample.text);
  }
  std::size_t accepted = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Rng rng(seed);
    const std::string_view other = kSamples.at(rng.below(kSamples.size())).text;
    const std::string text = damaged(goods[seed % goods.size()], other, rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto imported =
        import_pools(text, {.file = "f", .from = peer, .pool = rng.chance(1, 2) ? "" : "alpha"});
    if (!imported) {
      ASSERT_TRUE(imported.error().message.starts_with("f:")) << imported.error().message;
      continue;
    }
    ++accepted;
    for (const Pool& pool : imported->pools) expect_written_pool_is_the_same(peer, pool);
    if (testing::Test::HasFailure()) return;  // the first seed tells enough
  }
  EXPECT_GT(accepted, 50U);
  EXPECT_LT(accepted, 2'500U);
}

TEST(ImportPools, SurvivesDamagedTwemproxy) { survive_damage(Peer::kTwemproxy); }
TEST(ImportPools, SurvivesDamagedNginx) { survive_damage(Peer::kNginx); }
TEST(ImportPools, SurvivesDamagedHaproxy) { survive_damage(Peer::kHaproxy); }
TEST(ImportPools, SurvivesDamagedEnvoy) { survive_damage(Peer::kEnvoy); }
TEST(ImportPools, SurvivesDamagedCodis) { survive_damage(Peer::kCodis); }

}  // namespace
}  // namespace cleave::convert
