#include "ring/document/scheme_search.h"

#include <gtest/gtest.h>

#include <set>

namespace cleave::ring {
namespace {

const std::vector<PlacedNode> kNodes = {
    {.name = "10.0.0.1:6379"}, {.name = "10.0.0.2:6379"}, {.name = "10.0.0.3:6379"}};

// Keys where this scheme puts them.
std::vector<std::vector<std::string>> placed_by(const SchemeSpec& scheme, int keys) {
  std::vector<std::vector<std::string>> seen(kNodes.size());
  const auto placement = place(scheme, kNodes);
  EXPECT_TRUE(placement) << placement.error().message;
  for (int i = 0; i < keys; ++i) {
    const std::string key = "user:" + std::to_string(i);
    if (const auto owner = (*placement)->owner(key)) seen[*owner].push_back(key);
  }
  return seen;
}

SchemeFit best_of(std::vector<NamedNodes> names, std::vector<std::vector<std::string>> seen) {
  SchemeSearch search(std::move(names), std::move(seen));
  while (search.step()) {
  }
  EXPECT_TRUE(search.best());
  return search.best().value_or(SchemeFit{});
}

TEST(SchemeSearch, EverySchemeIsTriedWithValuesThatItTakes) {
  std::set<std::string> tried;
  for (const SchemeSpec& spec : searched_schemes()) {
    const auto placement = place(spec, kNodes);
    EXPECT_TRUE(placement) << describe(SchemeFit{.scheme = spec, .hashed = ""}) << ": "
                           << placement.error().message;
    tried.insert(spec.name);
  }
  for (const SchemeText& each : schemes()) EXPECT_TRUE(tried.contains(std::string(each.name)));
}

TEST(SchemeSearch, FindsWhoPutTheKeysThere) {
  const std::vector<SchemeSpec> peers = {
      {.name = "modulo", .options = {{"hash", "crc32"}}},
      {.name = "twemproxy-ketama", .options = {{"hash", "md5"}}},
      {.name = "npm-hashring", .options = {{"format", "hash_ring"}}},
      {.name = "haproxy", .options = {{"method", "consistent"}}},
      {.name = "redis-cluster"},
  };
  for (const SchemeSpec& peer : peers) {
    const SchemeFit fit = best_of({{.what = "their names", .nodes = kNodes}}, placed_by(peer, 500));
    EXPECT_EQ(fit.elsewhere, 0U) << peer.name;
    EXPECT_EQ(fit.keys, 500U);
    EXPECT_EQ(fit.scheme.name, peer.name) << describe(fit);
  }
}

TEST(SchemeSearch, TriesEachKindOfName) {
  const std::vector<PlacedNode> called = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  const SchemeFit fit = best_of(
      {{.what = "their names", .nodes = called}, {.what = "their addresses", .nodes = kNodes}},
      placed_by({.name = "twemproxy-ketama"}, 300));
  EXPECT_EQ(fit.elsewhere, 0U);
  EXPECT_EQ(describe(fit), "twemproxy-ketama with hash fnv1a_64, of their addresses");
}

TEST(SchemeSearch, SaysNothingOfNoKeys) {
  SchemeSearch search({{.what = "their names", .nodes = kNodes}}, {{}, {}, {}});
  while (search.step()) {
  }
  EXPECT_FALSE(search.best());
}

}  // namespace
}  // namespace cleave::ring
