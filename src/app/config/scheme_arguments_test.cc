#include "app/config/scheme_arguments.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cleave::app {
namespace {

TEST(SchemeArguments, NodesHaveAWeightOrNone) {
  const auto plain = parse_placed_node("10.0.0.1:6379");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->name, "10.0.0.1:6379");
  EXPECT_EQ(plain->weight, 1U);
  const auto heavy = parse_placed_node("a=b=12");
  ASSERT_TRUE(heavy);
  EXPECT_EQ(heavy->name, "a=b");
  EXPECT_EQ(heavy->weight, 12U);
  for (const char* bad : {"a=", "a=x", "a=-1", "a=4294967296", "="}) {
    EXPECT_FALSE(parse_placed_node(bad)) << bad;
  }
}

TEST(SchemeArguments, OptionsAreNameAndValue) {
  const auto spec = parse_scheme("twemproxy-ketama", {"hash=md5", "hash_tag={}", "x="});
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->options.at("hash"), "md5");
  EXPECT_EQ(spec->options.at("hash_tag"), "{}");
  EXPECT_EQ(spec->options.at("x"), "");
  EXPECT_FALSE(parse_scheme("nginx", {"method"}));
  EXPECT_FALSE(parse_scheme("nginx", {"method=plain", "method=plain"}));
}

TEST(SchemeArguments, KeysAreLinesOfAnyBytes) {
  const std::string path = ::testing::TempDir() + "/cleave_keys_test.txt";
  std::ofstream(path, std::ios::binary) << std::string("a b\r\n\n\xff\0z\nlast", 14);
  const auto keys = read_keys(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(keys);
  EXPECT_EQ(*keys, (std::vector<std::string>{"a b\r", "", std::string("\xff\0z", 3), "last"}));
  EXPECT_EQ(read_keys("/nonexistent/keys").error().code, Code::kNotFound);
}

TEST(SchemeArguments, HelpNamesEverySchemeAndOption) {
  const std::string help = scheme_help();
  for (const char* name : {"twemproxy-ketama",
                           "twemproxy-modula",
                           "libmemcached-ketama-weighted",
                           "libmemcached-ketama",
                           "libmemcached-modula",
                           "libmemcached-spy",
                           "jedis",
                           "nginx",
                           "haproxy",
                           "envoy-ring",
                           "envoy-maglev",
                           "envoy-redis",
                           "redis-cluster",
                           "cassandra",
                           "spymemcached",
                           "uhashring",
                           "jump",
                           "go-redis",
                           "pymemcache",
                           "murmur64a-vnode",
                           "java-vnode",
                           "vnode",
                           "modulo",
                           "guava",
                           "npm-hashring",
                           "codis"}) {
    EXPECT_NE(help.find("  " + std::string(name) + " ("), std::string::npos) << name;
  }
  for (const char* option : {"hash", "hash_tag", "method", "avalanche", "named", "key_tag",
                             "format", "points", "min_ring", "table_size"}) {
    EXPECT_NE(help.find("      " + std::string(option) + ": "), std::string::npos) << option;
  }
}

}  // namespace
}  // namespace cleave::app
