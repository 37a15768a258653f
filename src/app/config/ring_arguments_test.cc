#include "app/config/ring_arguments.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cleave::app {
namespace {

using Nodes = std::vector<ring::PlacedNode>;

std::string text_of(const Nodes& nodes) {
  std::string text;
  for (const ring::PlacedNode& each : nodes) {
    text += each.name + "=" + std::to_string(each.weight) + " ";
  }
  return text;
}

TEST(RingArguments, PlaceARing) {
  const auto ring =
      place_ring({.scheme = "envoy-maglev", .nodes = {"a", "b=2"}, .options = {"table_size=5003"}});
  ASSERT_TRUE(ring) << ring.error().message;
  EXPECT_EQ(text_of(ring->nodes), "a=1 b=2 ");
  EXPECT_EQ(scheme_text(ring->spec), "envoy-maglev, table_size=5003");
  EXPECT_TRUE(ring->placement->owner("k"));
  EXPECT_FALSE(place_ring({.scheme = "kettle", .nodes = {"a"}}));
  EXPECT_FALSE(place_ring({.nodes = {"a=x"}}));
  EXPECT_FALSE(place_ring({.nodes = {"a"}, .options = {"x"}}));
  EXPECT_FALSE(place_ring({}));
}

TEST(RingArguments, PlaceTheRingOfAFile) {
  const std::string path = ::testing::TempDir() + "/cleave_ring_config_test.yml";
  std::ofstream(path) << "alpha:\n  listen: 127.0.0.1:22121\n  hash: md5\n"
                         "  distribution: ketama\n  redis: true\n"
                         "  servers:\n   - 127.0.0.1:7001:1 a\n   - 127.0.0.1:7002:3 b\n";
  PoolFile file;
  file.path = path;
  const auto ring = place_ring({.config = file});
  std::filesystem::remove(path);
  ASSERT_TRUE(ring) << ring.error().message;
  EXPECT_EQ(ring->spec.name, "twemproxy-ketama");
  EXPECT_EQ(text_of(ring->nodes), "a=1 b=3 ");
  EXPECT_EQ(place_ring({.config = file}).error().code, Code::kNotFound);
}

TEST(RingArguments, NodesLeaveChangeAndJoin) {
  const Nodes nodes{{"a", 1}, {"b", 2}, {"c", 3}};
  const auto edited =
      edited_nodes(nodes, {.joins = {"d=4", "e"}, .leaves = {"b"}, .weights = {"a=7"}});
  ASSERT_TRUE(edited);
  EXPECT_EQ(text_of(*edited), "a=7 c=3 d=4 e=1 ");
  EXPECT_EQ(edited_nodes(nodes, {.leaves = {"x"}}).error().message,
            "--leave: no node is named 'x'");
  EXPECT_EQ(edited_nodes(nodes, {.weights = {"x=1"}}).error().message,
            "--weight: no node is named 'x'");
  EXPECT_FALSE(edited_nodes(nodes, {.weights = {"a"}}));
  EXPECT_FALSE(edited_nodes(nodes, {.joins = {"d="}}));
}

TEST(RingArguments, KeysAreOfAFileOrASample) {
  const auto sample = keys_of({.sample = 10, .seed = 3});
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->size(), 10U);
  const std::string path = ::testing::TempDir() + "/cleave_ring_keys_test.txt";
  std::ofstream(path) << "a\nb\n";
  EXPECT_EQ(keys_of({.file = path})->size(), 2U);
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(keys_of({.file = path}).error().code, Code::kInvalid);
  std::filesystem::remove(path);
  EXPECT_EQ(keys_of({.file = path}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace cleave::app
