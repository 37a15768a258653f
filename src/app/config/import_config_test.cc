// What `cleave import` writes is what `cleave serve` reads: the same pool, whatever stood in the
// other proxy's file.
#include <gtest/gtest.h>

#include "app/config/config.h"
#include "base/damage_testing.h"
#include "convert/samples_testing.h"
#include "convert/write/cleave_yaml.h"

namespace cleave::app {
namespace {

void expect_same(const PoolConfig& read, const convert::Pool& pool) {
  EXPECT_EQ(read.name, pool.name);
  EXPECT_EQ(read.kind == PoolKind::kStore, pool.kind == convert::Kind::kStore);
  EXPECT_EQ(read.scheme, pool.scheme);
  EXPECT_EQ(read.credentials.password, pool.server_password);
  EXPECT_EQ(read.credentials.user, pool.server_user);
  ASSERT_EQ(read.nodes.size(), pool.nodes.size());
  for (std::size_t i = 0; i < pool.nodes.size(); ++i) {
    EXPECT_EQ(read.nodes[i].name, pool.nodes[i].name);
    EXPECT_EQ(read.nodes[i].hash_key, pool.nodes[i].hash_key);
    EXPECT_EQ(read.nodes[i].weight, pool.nodes[i].weight);
    EXPECT_EQ(read.nodes[i].id.value() - 1, pool.nodes[i].position.value_or(i));
    std::vector<std::string> members;
    for (const ring::Member& member : read.nodes[i].members) members.push_back(member.address);
    EXPECT_EQ(members, pool.nodes[i].members);
  }
}

TEST(ImportedConfig, IsReadAsThePoolThatWasImported) {
  std::size_t read = 0;
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    Rng rng(seed);
    const convert::Sample& sample = convert::kSamples.at(seed % convert::kSamples.size());
    const std::string_view other = convert::kSamples.at(rng.below(convert::kSamples.size())).text;
    const std::string text =
        rng.chance(1, 20) ? std::string(sample.text) : damaged(sample.text, other, rng);
    const auto imported =
        convert::import_pools(text, {.file = "f", .from = sample.peer, .pool = {}});
    if (!imported || imported->pools.size() > 1) continue;
    const auto yaml = convert::to_cleave_yaml(*imported, "f");
    if (!yaml) {
      ASSERT_FALSE(yaml.error().message.empty());
      continue;
    }
    ++read;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text + "\n" + *yaml);
    const auto config = parse_config(*yaml, "cleave.yaml");
    ASSERT_TRUE(config) << config.error().message;
    expect_same(config->pool, imported->pools.front());
    if (testing::Test::HasFailure()) return;  // the first seed tells enough
  }
  EXPECT_GT(read, 500U);
}

}  // namespace
}  // namespace cleave::app
