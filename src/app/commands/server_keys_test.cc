#include "app/commands/server_keys.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

const std::vector<ring::PlacedNode> kNodes = {{.name = "a"}, {.name = "b"}, {.name = "c"}};

std::vector<ServerKeys> filled_by(const ring::SchemeSpec& scheme) {
  const auto placement = ring::place(scheme, kNodes);
  std::vector<ServerKeys> servers(kNodes.size());
  for (int i = 0; i < 900; ++i) {
    const std::string key = "key:" + std::to_string(i);
    servers[(*placement)->owner(key).value_or(0)].keys.push_back(key);
  }
  for (ServerKeys& server : servers) server.whole = true;
  return servers;
}

TEST(ServerKeys, ARingThatFitsFindsAll) {
  const ring::SchemeSpec scheme{.name = "twemproxy-ketama"};
  const auto fit = fit_of(filled_by(scheme), scheme, {{.what = "their names", .nodes = kNodes}});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->keys, 900U);
  EXPECT_EQ(fit->elsewhere, 0U);
  EXPECT_FALSE(fit->better);
}

TEST(ServerKeys, ARingThatDoesNotFitIsToldWithTheOneThatDoes) {
  const ring::SchemeSpec theirs{.name = "modulo", .options = {{"hash", "crc32"}}};
  const auto fit =
      fit_of(filled_by(theirs), {.name = "vnode"}, {{.what = "their names", .nodes = kNodes}});
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->elsewhere, 400U);
  ASSERT_TRUE(fit->better);
  EXPECT_EQ(fit->better->scheme, theirs);
  EXPECT_EQ(fit->better->elsewhere, 0U);
  EXPECT_FALSE(fit->nodes[0].examples.empty());
}

// Of the many schemes one would find them.
TEST(ServerKeys, AHandfulOfKeysTellsNoScheme) {
  std::vector<ServerKeys> servers(kNodes.size());
  servers[1] = {.keys = {"user:1", "user:2"}, .whole = true, .databases = {}, .scripts = {}};
  const auto fit = fit_of(servers, {.name = "modulo"}, {{.what = "their names", .nodes = kNodes}});
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->elsewhere, 0U);
  EXPECT_FALSE(fit->better);
}

}  // namespace
}  // namespace cleave::app
